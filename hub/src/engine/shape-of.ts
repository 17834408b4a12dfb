import { isInline, type JobSpec, type Shape, type Terms } from '@stoker/protocol'

const MB = 1_000_000
const MIB = 2 ** 20

/** What the scheduler sees of a spec; device memory counts in MiB as drivers do, so that `24GB` fits a device sold as such. */
export function shapeOf(spec: JobSpec): Shape {
  const { resources, placement } = spec
  return {
    executor: isInline(spec.type) ? 'inline' : 'process',
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
    python: spec.type === 'custom_script' && spec.input.interpreter === undefined,
    isolation: spec.isolation,
    network: spec.network,
  }
}

export function termsOf(spec: JobSpec): Terms {
  return {
    timeoutMs: spec.timeoutMs,
    lostAfterMs: spec.lostAfterMs,
    retryMax: spec.retries.max,
    retryOn: spec.retries.on,
    retryInitialMs: spec.retries.initialMs,
    retryMaxMs: spec.retries.maxMs,
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
  const devices = `${executor}|${gpus}|${gpuMemoryMb}|${quoted(shape.gpuModel)}|${gpuSharing}|${cpusMilli}|${memoryMb}`
  const rooms = `${quoted(shape.worker)}|${listed(shape.exclude)}|${python}|${isolation}|${network}`
  const tags = `${listed(shape.tags)}|${listed(shape.avoidTags)}|${listed(shape.preferTags)}`
  const { timeoutMs, lostAfterMs, retryMax, retryOn, retryInitialMs, retryMaxMs } = terms
  const times = `${timeoutMs}|${lostAfterMs}|${retryMax}|${retryOn.join()}|${retryInitialMs}|${retryMaxMs}`
  return `${priority}|${devices}|${rooms}|${tags}|${times}|${groupId}|${owner}`
}

function quoted(text: string | null): string {
  return text === null ? '' : JSON.stringify(text)
}

function listed(list: readonly string[]): string {
  return list.length === 0 ? '' : JSON.stringify(list)
}
