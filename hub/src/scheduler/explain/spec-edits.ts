import type { Shape, StartingChange } from '@stoker/protocol'
import type { WorkerState } from '../../engine/state.ts'
import { neverRefusals } from '../fit.ts'
import type { Refusal } from '../refusal.ts'
import type { WorkerReasons } from './worker-reasons.ts'

type Patch = { -readonly [K in keyof Shape]?: Shape[K] }
export type Edit = StartingChange['edits'][number]

/** A shape that has nothing against a worker any more; null if no change of the spec does that. */
export function curedShape(shape: Shape, { worker, never, now }: WorkerReasons): Shape | null {
  let cured = shape
  for (const refusal of [...never, ...now]) {
    const patch = patchFor(refusal, cured, worker)
    if (patch === null) return null
    cured = { ...cured, ...patch }
  }
  return cured
}

function patchFor({ code, cure }: Refusal, shape: Shape, worker: WorkerState): Patch | null {
  const { facts } = worker
  switch (code) {
    case 'worker.other':
      return { worker: null }
    case 'worker.excluded':
      return { exclude: shape.exclude.filter(word => word !== facts.name && word !== worker.id) }
    case 'tags.missing':
      return { tags: shape.tags.filter(tag => facts.tags.includes(tag)) }
    case 'tags.avoided':
      return { avoidTags: shape.avoidTags.filter(tag => !facts.tags.includes(tag)) }
    case 'cpus.total':
    case 'busy.cpus':
      return fewer('cpusMilli', shape, worker.cpusMilliFree)
    case 'memory.total':
    case 'busy.memory':
      return fewer('memoryMb', shape, worker.memoryMbFree)
    case 'isolation.unserved':
      return isolationPatch(shape, worker)
    case 'containers.network':
      return { network: null }
    case 'image.absent':
      return facts.abilities.containers?.pulls === true ? { pull: 'missing' } : null
    case 'gpus.count':
    case 'gpus.kind':
    case 'busy.gpus':
    case 'gpus.foreign':
    case 'gpus.quarantined':
    case 'gpus.faulty':
      return gpuPatch(cure, shape)
    default:
      return null
  }
}

/** Nothing is no amount to run with. */
function fewer(field: 'cpusMilli' | 'memoryMb' | 'gpus' | 'gpuMemoryMb', shape: Shape, has: number): Patch | null {
  return has > 0 ? { [field]: Math.min(has, shape[field]) } : null
}

function gpuPatch(cure: Refusal['cure'], shape: Shape): Patch | null {
  if (cure?.field === 'resources.gpus') return fewer('gpus', shape, Number(cure.has))
  if (cure?.field === 'resources.gpuMemory') return fewer('gpuMemoryMb', shape, Number.parseInt(String(cure.has), 10))
  return cure?.field === 'resources.gpuModel' ? { gpuModel: null } : null
}

/** The gentlest that the worker serves: any isolation, any network, or both. */
function isolationPatch(shape: Shape, worker: WorkerState): Patch | null {
  const patches: readonly Patch[] = [{ isolation: 'auto' }, { network: null }, { isolation: 'auto', network: null }]
  const serves = (patch: Patch): boolean =>
    neverRefusals({ ...shape, ...patch }, worker).every(({ code }) => code !== 'isolation.unserved')
  return patches.find(serves) ?? null
}

interface Field<K extends keyof Shape> {
  readonly field: string
  readonly show: (value: Shape[K]) => string | number | null
  readonly words: (from: Shape[K], to: Shape[K]) => string
}

const list = (values: readonly string[]): string | null => (values.length === 0 ? null : values.join(', '))
const dropped = (from: readonly string[], to: readonly string[]): string =>
  from.filter(value => !to.includes(value)).join(', ')

const FIELDS: { readonly [K in keyof Shape]?: Field<K> } = {
  gpus: {
    field: 'resources.gpus',
    show: n => n,
    words: (from, to) => `with ${to} GPU${to === 1 ? '' : 's'} instead of ${from}`,
  },
  gpuMemoryMb: {
    field: 'resources.gpuMemory',
    show: mb => `${mb}Mi`,
    words: (from, to) => `with ${to} MiB of GPU memory instead of ${from} MiB`,
  },
  gpuModel: {
    field: 'resources.gpuModel',
    show: model => model,
    words: from => `with any GPU model instead of ${from}`,
  },
  cpusMilli: {
    field: 'resources.cpus',
    show: milli => milli / 1000,
    words: (from, to) => `with ${to / 1000} CPUs instead of ${from / 1000}`,
  },
  memoryMb: {
    field: 'resources.memory',
    show: mb => `${mb}MB`,
    words: (from, to) => `with ${to} MB of memory instead of ${from} MB`,
  },
  worker: { field: 'placement.worker', show: name => name, words: from => `on any worker instead of ${from}` },
  exclude: { field: 'placement.exclude', show: list, words: (from, to) => `without excluding ${dropped(from, to)}` },
  tags: {
    field: 'placement.tags.require',
    show: list,
    words: (from, to) => `without requiring tag ${dropped(from, to)}`,
  },
  avoidTags: {
    field: 'placement.tags.avoid',
    show: list,
    words: (from, to) => `without avoiding tag ${dropped(from, to)}`,
  },
  isolation: { field: 'isolation', show: kind => kind, words: (from, to) => `with isolation ${to} instead of ${from}` },
  pull: { field: 'pull', show: kind => kind, words: (from, to) => `with pull ${to} instead of ${from}` },
  network: { field: 'network', show: kind => kind, words: from => `without asking for network ${from}` },
}

/** What differs between two shapes, as fields of the spec, in words, and how much is given up. */
export function editsBetween(from: Shape, to: Shape): { edits: Edit[]; text: string; loss: number } {
  const keys = Object.keys(FIELDS) as (keyof Shape)[]
  const changed = keys.filter(key => from[key] !== to[key] && JSON.stringify(from[key]) !== JSON.stringify(to[key]))
  const told = changed.map(key => tell(key, from, to))
  return {
    edits: told.map(({ edit }) => edit),
    text: told.map(({ words }) => words).join(' and '),
    loss: changed.reduce((sum, key) => sum + lossOf(from[key], to[key]), 0),
  }
}

function tell<K extends keyof Shape>(key: K, from: Shape, to: Shape): { edit: Edit; words: string } {
  const known = FIELDS[key]
  if (known === undefined) throw new Error(`${key} is no field a change may name`)
  const { field, show, words } = known
  return { edit: { field, from: show(from[key]), to: show(to[key]) }, words: words(from[key], to[key]) }
}

function lossOf(from: unknown, to: unknown): number {
  return typeof from === 'number' && typeof to === 'number' && from > 0 ? 1 - to / from : 0.5
}
