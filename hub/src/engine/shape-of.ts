import { createHash } from 'node:crypto'
import {
  isInline,
  type JobSpec,
  normalRequirements,
  type Shape,
  startsProgram,
  type Terms,
  taskTarget,
  USES,
  type Use,
} from '@stoker/protocol'

const MB = 1_000_000
const MIB = 2 ** 20

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** What the scheduler sees of a spec; device memory counts in MiB as drivers do, so that `24GB` fits a device sold as such. */
export function shapeOf(spec: JobSpec): Shape {
  const { resources, placement } = spec
  const shape: Writable<Shape> = {
    executor: executorOf(spec),
    gpus: resources.gpus,
    gpuMemoryMb: Math.floor((resources.gpuMemoryBytes ?? 0) / MIB),
    gpuModel: resources.gpuModel,
    gpuSharing: resources.gpuSharing,
    cpusMilli: Math.ceil(resources.cpus * 1000),
    memoryMb: Math.ceil((resources.memoryBytes ?? 0) / MB),
    worker: placement.worker,
    exclude: placement.exclude,
    tags: placement.tags,
    avoidTags: placement.avoidTags,
    preferTags: placement.preferTags,
    python: spec.type === 'custom_script' && spec.container === null && spec.input.interpreter === undefined,
    isolation: spec.isolation,
    network: spec.network,
    image: spec.container?.image ?? null,
    pull: spec.container?.pull ?? 'missing',
    mounts: mountedOf(spec),
    target: spec.task === null ? null : taskTarget(spec.task),
  }
  if (resources.gpuDifficulty !== undefined) shape.gpuDifficulty = resources.gpuDifficulty
  if (spec.session !== null) shape.session = true
  if (startsProgram(spec.type) && spec.container === null) nameProgram(shape, spec)
  return shape
}

function nameProgram(shape: Writable<Shape>, spec: JobSpec): void {
  shape.type = spec.type
  const uses = usesOf(spec)
  if (uses.length > 0) shape.uses = uses
  if (spec.environment !== null) Object.assign(shape, environmentOf(spec.environment))
  if (spec.placement.unverified) shape.unverified = true
}

function usesOf({ input, env, environment, files, model, outputs, ranks, secrets }: JobSpec): Use[] {
  const asked: Record<Use, boolean> = {
    args: Array.isArray(input.args) || input.interpreter !== undefined,
    env: Object.keys(env).length > 0,
    environment: environment !== null,
    files: files.length > 0,
    model: model !== null,
    outputs: outputs.length > 0,
    ranks: ranks !== null,
    secrets: secrets.length > 0,
  }
  return USES.filter(use => asked[use])
}

/** As workers name the packages they have. */
const HASH_LENGTH = 16

function environmentOf({ requirements, python }: NonNullable<JobSpec['environment']>) {
  const environment = createHash('sha256').update(normalRequirements(requirements)).digest('hex').slice(0, HASH_LENGTH)
  return { environment, ...(python === null ? {} : { interpreter: python }) }
}

function executorOf({ type, container, task }: JobSpec): Shape['executor'] {
  if (task !== null) return 'task'
  if (container !== null) return 'container'
  return isInline(type) ? 'inline' : 'process'
}

const NONE: never[] = []
Object.freeze(NONE)

function mountedOf({ container }: JobSpec): Shape['mounts'] {
  return container === null || container.mounts.length === 0 ? NONE : container.mounts.map(({ source }) => source)
}

export function termsOf(spec: JobSpec): Terms {
  return {
    timeoutMs: spec.timeoutMs,
    lostAfterMs: spec.lostAfterMs,
    retryMax: spec.retries.max,
    retryOn: spec.retries.on,
    retryInitialMs: spec.retries.initialMs,
    retryMaxMs: spec.retries.maxMs,
    session: spec.session === null ? null : { ...spec.session, preset: spec.preset },
  }
}

/** Every value with a mark between, written for every job that comes in; free text is quoted, and the owner comes last. */
export function bucketKey(
  owner: string,
  priority: number,
  shape: Shape,
  terms: Terms,
  groupId: string | null = null,
): string {
  const { executor, gpus, gpuMemoryMb, gpuSharing, cpusMilli, memoryMb, python, isolation, network } = shape
  const devices = `${executor}|${gpus}|${gpuMemoryMb}|${quoted(shape.gpuModel)}|${shape.gpuDifficulty ?? ''}|${gpuSharing}|${cpusMilli}|${memoryMb}`
  const inside = `${quoted(shape.image)}|${shape.pull}|${listed(shape.mounts)}|${quoted(shape.target)}|${shape.session === true}`
  const { type, uses = NONE, unverified, environment = '', interpreter = '' } = shape
  const program =
    type === undefined ? '' : `${type}|${uses.join()}|${unverified === true}|${environment}|${interpreter}`
  const rooms = `${quoted(shape.worker)}|${listed(shape.exclude)}|${python}|${isolation}|${network}|${inside}|${program}`
  const tags = `${listed(shape.tags)}|${listed(shape.avoidTags)}|${listed(shape.preferTags)}`
  const { timeoutMs, lostAfterMs, retryMax, retryOn, retryInitialMs, retryMaxMs } = terms
  const kept = terms.session === null ? '' : JSON.stringify(terms.session)
  const times = `${timeoutMs}|${lostAfterMs}|${retryMax}|${retryOn.join()}|${retryInitialMs}|${retryMaxMs}|${kept}`
  return `${priority}|${devices}|${rooms}|${tags}|${times}|${groupId}|${owner}`
}

/** Whether two shapes would have one key, which costs more to write. Each field is named: in a loop over names V8 would look every one of them up. */
export function isSameShape(a: Shape, b: Shape): boolean {
  return (
    a.executor === b.executor &&
    a.gpus === b.gpus &&
    a.gpuMemoryMb === b.gpuMemoryMb &&
    a.gpuModel === b.gpuModel &&
    a.gpuDifficulty === b.gpuDifficulty &&
    a.gpuSharing === b.gpuSharing &&
    a.cpusMilli === b.cpusMilli &&
    a.memoryMb === b.memoryMb &&
    a.worker === b.worker &&
    isSameList(a.exclude, b.exclude) &&
    isSameList(a.tags, b.tags) &&
    isSameList(a.avoidTags, b.avoidTags) &&
    isSameList(a.preferTags, b.preferTags) &&
    a.python === b.python &&
    a.isolation === b.isolation &&
    a.network === b.network &&
    a.image === b.image &&
    a.pull === b.pull &&
    isSameList(a.mounts, b.mounts) &&
    a.target === b.target &&
    a.session === b.session &&
    a.type === b.type &&
    isSameList(a.uses ?? NONE, b.uses ?? NONE) &&
    a.environment === b.environment &&
    a.interpreter === b.interpreter &&
    a.unverified === b.unverified
  )
}

/** Of sessions it says no, though they may be. */
export function isSameTerms(a: Terms, b: Terms): boolean {
  return (
    a.timeoutMs === b.timeoutMs &&
    a.lostAfterMs === b.lostAfterMs &&
    a.retryMax === b.retryMax &&
    isSameList(a.retryOn, b.retryOn) &&
    a.retryInitialMs === b.retryInitialMs &&
    a.retryMaxMs === b.retryMaxMs &&
    a.session === b.session
  )
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true
  return a.length === b.length && a.every((word, index) => word === b[index])
}

function quoted(text: string | null): string {
  return text === null ? '' : JSON.stringify(text)
}

function listed(list: readonly string[]): string {
  return list.length === 0 ? '' : JSON.stringify(list)
}
