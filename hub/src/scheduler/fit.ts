import type { Gpu, Shape } from '@stoker/protocol'
import type { WorkerFacts, WorkerState } from '../engine/state.ts'
import { containerFits } from './container-fit.ts'
import { programFits } from './program-fit.ts'
import { type Refusal, refusal } from './refusal.ts'

type Candidate = Pick<WorkerState, 'id' | 'facts'>

/** Whether a worker could run a shape if it were idle. */
export function couldRun(shape: Shape, { id, facts }: Candidate): boolean {
  return FILTERS.every(filter => filter(shape, facts, id) === null)
}

/** Every reason why a worker could never run a shape, even idle. */
export function neverRefusals(shape: Shape, { id, facts }: Candidate): Refusal[] {
  return FILTERS.map(filter => filter(shape, facts, id)).filter(reason => reason !== null)
}

/** Devices a shape would accept. */
export function suits(shape: Shape, gpu: Pick<Gpu, 'name' | 'memoryMb' | 'difficulty'>): boolean {
  return (
    gpu.memoryMb >= shape.gpuMemoryMb &&
    (shape.gpuDifficulty === undefined || (gpu.difficulty ?? 'low') === shape.gpuDifficulty) &&
    (shape.gpuModel === null || gpu.name.toLowerCase().includes(shape.gpuModel.toLowerCase()))
  )
}

/** Workers of one class answer alike, unless the shape names workers, or lives on the images each has. */
export function looksAtEach({ worker, exclude, image, pull }: Shape): boolean {
  return worker !== null || exclude.length > 0 || (image !== null && pull === 'never')
}

/** Of shapes that wait: both they and classes of workers outlive a pass. */
const answers = new WeakMap<Shape, Map<string, boolean>>()
/** Workers come and go with new abilities for as long as a shape waits. */
const MOST_CLASSES = 1_000

/** Whether workers could run a shape, found out once for each class of them. */
export class FitByClass {
  readonly #shape: Shape
  /** Null where each worker is looked at. */
  readonly #known: Map<string, boolean> | null

  constructor(shape: Shape) {
    this.#shape = shape
    this.#known = looksAtEach(shape) ? null : knownOf(shape)
  }

  with(worker: Pick<WorkerState, 'id' | 'facts' | 'classKey'>): boolean {
    const known = this.#known?.get(worker.classKey)
    if (known !== undefined) return known
    const fits = couldRun(this.#shape, worker)
    if (this.#known !== null && this.#known.size >= MOST_CLASSES) this.#known.clear()
    this.#known?.set(worker.classKey, fits)
    return fits
  }
}

function knownOf(shape: Shape): Map<string, boolean> {
  const known = answers.get(shape)
  if (known !== undefined) return known
  const fresh = new Map<string, boolean>()
  answers.set(shape, fresh)
  return fresh
}

type Filter = (shape: Shape, facts: WorkerFacts, id: string) => Refusal | null

const FILTERS: readonly Filter[] = [
  ({ worker }, { name }, id) =>
    worker === null || worker === name || worker === id
      ? null
      : refusal('worker.other', `asks for worker ${worker}, this is ${name}`, {
          field: 'placement.worker',
          needs: worker,
          has: name,
        }),
  ({ exclude }, { name }, id) => {
    if (exclude.length === 0) return null
    const excluded = exclude.find(word => word === name || word === id)
    if (excluded === undefined) return null
    const text = `excludes worker ${excluded}, this is ${name}`
    return refusal('worker.excluded', text, { field: 'placement.exclude', needs: excluded, has: name })
  },
  ({ tags }, facts) => {
    if (tags.length === 0) return null
    const missing = tags.filter(tag => !facts.tags.includes(tag)).join(', ')
    if (missing === '') return null
    const has = facts.tags.length === 0 ? null : facts.tags.join(', ')
    const text = `needs tag ${missing}, ${facts.name} has ${has ?? 'none'}`
    return refusal('tags.missing', text, { field: 'placement.tags', needs: missing, has })
  },
  ({ avoidTags }, facts) => {
    if (avoidTags.length === 0) return null
    const found = avoidTags.filter(tag => facts.tags.includes(tag)).join(', ')
    if (found === '') return null
    const text = `avoids tag ${found}, ${facts.name} has ${facts.tags.join(', ')}`
    return refusal('tags.avoided', text, { field: 'placement.tags.avoid', needs: found, has: facts.tags.join(', ') })
  },
  ({ executor }, { abilities, name }) =>
    executor === 'container' || abilities.executors.includes(executor)
      ? null
      : refusal(
          'programs.none',
          `needs to run programs, ${name} runs inline types only${abilities.note === null ? '' : ` (${abilities.note})`}`,
        ),
  ({ session }, { abilities, name }) =>
    session !== true || abilities.executors.includes('task')
      ? null
      : refusal('sessions.none', `needs to be kept as a session, ${name} is of a version that cannot`),
  ({ python }, { hardware, abilities, name }) =>
    !python || hardware.pythons.length > 0 || abilities.foreign !== undefined
      ? null
      : refusal('python.none', `needs Python for its script, ${name} has none`, {
          field: 'input.interpreter',
          needs: 'python',
          has: null,
        }),
  gpusFit,
  ({ cpusMilli }, facts) =>
    cpusMilli <= facts.cpusMilli
      ? null
      : refusal('cpus.total', `needs ${cpusMilli / 1000} CPUs, ${facts.name} has ${facts.cpusMilli / 1000}`, {
          field: 'resources.cpus',
          needs: cpusMilli / 1000,
          has: facts.cpusMilli / 1000,
        }),
  ({ memoryMb }, facts) =>
    memoryMb <= facts.memoryMb
      ? null
      : refusal('memory.total', `needs ${memoryMb} MB of memory, ${facts.name} has ${facts.memoryMb} MB`, {
          field: 'resources.memory',
          needs: `${memoryMb}MB`,
          has: `${facts.memoryMb}MB`,
        }),
  isolationFits,
  containerFits,
  programFits,
]

function gpusFit(shape: Shape, { hardware, name }: WorkerFacts): Refusal | null {
  if (shape.gpus === 0) return null
  const count = hardware.gpus.length
  const field = 'resources.gpus'
  if (count < shape.gpus) {
    const text = `needs ${plural(shape.gpus)}, ${name} has ${count}`
    return refusal('gpus.count', text, { field, needs: shape.gpus, has: count })
  }
  const suiting = hardware.gpus.filter(gpu => suits(shape, gpu))
  if (suiting.length >= shape.gpus) return null
  const difficulty = shape.gpuDifficulty === undefined ? null : `difficulty ${shape.gpuDifficulty}`
  const wish = [shape.gpuModel, difficulty, shape.gpuMemoryMb > 0 ? `${shape.gpuMemoryMb} MiB` : null]
    .filter(w => w !== null)
    .join(' with ')
  const has = hardware.gpus.map(gpu => `${gpu.name} with ${gpu.memoryMb} MiB`).join(', ')
  const text = `needs ${plural(shape.gpus)} (${wish}), ${name} has ${suiting.length} such: ${has}`
  return refusal('gpus.kind', text, kindCure(shape, hardware.gpus, suiting.length))
}

/** Fewer devices, a smaller amount or any model: whichever alone would do; null if it takes more than one change. */
function kindCure(shape: Shape, gpus: readonly Gpu[], suiting: number) {
  if (suiting > 0) return { field: 'resources.gpus', needs: shape.gpus, has: suiting }
  const ofModel = gpus.filter(gpu => suits({ ...shape, gpuMemoryMb: 0 }, gpu)).map(gpu => gpu.memoryMb)
  if (ofModel.length >= shape.gpus) {
    const has = ofModel.sort((a, b) => b - a)[shape.gpus - 1] ?? 0
    return { field: 'resources.gpuMemory', needs: `${shape.gpuMemoryMb}Mi`, has: `${has}Mi` }
  }
  const ofSize = gpus.filter(gpu => suits({ ...shape, gpuModel: null }, gpu))
  const isEnough = shape.gpuModel !== null && ofSize.length >= shape.gpus
  return isEnough ? { field: 'resources.gpuModel', needs: shape.gpuModel, has: ofSize[0]?.name ?? null } : null
}

function isolationFits({ executor, isolation, network }: Shape, { abilities, name }: WorkerFacts): Refusal | null {
  if (executor === 'inline' || executor === 'container') return null
  const sandboxServes =
    abilities.sandbox && (network !== 'internet' || abilities.internet) && (network !== 'host' || abilities.hostNetwork)
  const openServes = abilities.unsandboxed && network !== 'none'
  const serves =
    isolation === 'sandbox' ? sandboxServes : isolation === 'none' ? openServes : sandboxServes || openServes
  if (serves) return null
  const wants = `isolation ${isolation}${network === null ? '' : ` with network ${network}`}`
  const offers = [abilities.sandbox ? 'a sandbox' : null, abilities.unsandboxed ? 'no isolation' : null]
    .filter(o => o !== null)
    .join(' or ')
  const has = offers === '' ? 'neither sandbox nor unsandboxed programs' : offers
  return refusal('isolation.unserved', `needs ${wants}, ${name} offers ${has}`, {
    field: 'isolation',
    needs: wants,
    has,
  })
}

function plural(gpus: number): string {
  return gpus === 1 ? '1 GPU' : `${gpus} GPUs`
}
