import type { Foreign, Shape } from '@stoker/protocol'
import { isProgramType, type JobType } from '@stoker/protocol'
import type { WorkerFacts } from '../engine/state.ts'
import { type Refusal, refusal } from './refusal.ts'

/** What keeps a program from a worker: it has none of that type, or speaks a protocol that cannot carry what the job says. */
export function programFits(shape: Shape, facts: WorkerFacts): Refusal | null {
  const { type } = shape
  const { abilities, name } = facts
  if (type === undefined) return null
  if (abilities.foreign !== undefined) return foreignFits({ ...shape, type }, abilities.foreign, name)
  if (shape.interpreter !== undefined && !hasPython(facts, shape.interpreter))
    return noSuchPython(facts, shape.interpreter)
  if (!isProgramType(type as JobType)) return null
  const ability = abilities.types?.[type]
  if (ability !== undefined && ability.state !== 'impossible') return null
  const why = ability?.reason ?? 'it brings no program of that type'
  return refusal('type.unserved', `needs to run ${type}, ${name} cannot: ${why}`, {
    field: 'type',
    needs: type,
    has: null,
  })
}

/** Whether a worker need not install anything first: it has the packages of the program, or of the spec. */
export function isWarm({ type, environment }: Shape, { types, environments }: WorkerFacts['abilities']): boolean {
  if (environment !== undefined) return environments?.includes(environment) === true
  return type !== undefined && types?.[type]?.state === 'ready'
}

/** What tells shapes apart that may find other workers warm; empty where none is warmer than another. */
export function warmthKey({ type, environment }: Shape): string {
  if (environment !== undefined) return environment
  return type !== undefined && isProgramType(type as JobType) ? type : ''
}

function hasPython({ hardware }: WorkerFacts, asked: string): boolean {
  return hardware.pythons.some(({ version }) => version === asked || version.startsWith(`${asked}.`))
}

function noSuchPython({ hardware, name }: WorkerFacts, asked: string): Refusal {
  const has = hardware.pythons.map(({ version }) => version).join(', ') || null
  const text = `needs Python ${asked}, ${name} has ${has ?? 'none'}`
  return refusal('python.version', text, { field: 'environment.python', needs: asked, has })
}

function foreignFits(
  { type, uses = [], unverified, gpus }: Shape & { readonly type: string },
  { dialect, types, uses: able, maxGpus }: Foreign,
  name: string,
): Refusal | null {
  const trust = types[type]
  if (trust === undefined) {
    const has = Object.keys(types).join(', ') || 'nothing'
    const text = `is of type ${type}, ${name} (${dialect}) runs only ${has}`
    return refusal('type.unserved', text, { field: 'type', needs: type, has })
  }
  if (trust === 'unverified' && unverified !== true) {
    const text = `wants a result someone can vouch for, ${name} (${dialect}) may make up what it says of type ${type}`
    return refusal('type.unverified', text, { field: 'placement.unverified', needs: 'false', has: 'true' })
  }
  const unable = uses.filter(use => !able.includes(use))
  if (unable.length > 0)
    return refusal('foreign.unable', `has ${unable.join(', ')}, ${name} (${dialect}) has no way to take that`)
  if (gpus <= maxGpus) return null
  const text = `needs ${gpus} GPUs, ${name} (${dialect}) gives a job at most ${maxGpus}`
  return refusal('foreign.unable', text, { field: 'resources.gpus', needs: gpus, has: maxGpus })
}
