import { JobSpec } from './job-spec.ts'
import { NO_RETRIES, OUTPUT_LIMIT_BYTES } from './spec-input.ts'

/** The text that is kept of a spec, a twentieth of the whole for a small job: what `readSpec` puts back is left out. */
export function writeSpec(spec: JobSpec): string {
  return JSON.stringify(specRecord(spec))
}

export function readSpec(text: string): JobSpec {
  return JobSpec.parse(JSON.parse(text))
}

/** Written out: this runs for every job that comes in. JSON leaves out what is undefined. */
export function specRecord(spec: JobSpec): object {
  return {
    name: spec.name,
    type: spec.type,
    command: spec.command ?? undefined,
    input: anyKey(spec.input),
    env: anyKey(spec.env),
    isolation: spec.isolation === 'auto' ? undefined : spec.isolation,
    network: spec.network ?? undefined,
    resources: anyValue(resourcesRecord(spec.resources)),
    placement: anyValue(placementRecord(spec.placement)),
    priority: spec.priority || undefined,
    timeoutMs: spec.timeoutMs ?? undefined,
    lostAfterMs: spec.lostAfterMs ?? undefined,
    retries: isOnce(spec.retries) ? undefined : spec.retries,
    labels: anyKey(spec.labels),
    outputLimitBytes: spec.outputLimitBytes === OUTPUT_LIMIT_BYTES ? undefined : spec.outputLimitBytes,
    files: anyOf(spec.files),
    outputs: anyOf(spec.outputs),
    dependsOn: anyOf(spec.dependsOn),
    hold: spec.hold || undefined,
    secrets: anyOf(spec.secrets),
  }
}

function resourcesRecord(resources: JobSpec['resources']) {
  return {
    gpus: resources.gpus || undefined,
    gpuMemoryBytes: resources.gpuMemoryBytes ?? undefined,
    gpuModel: resources.gpuModel ?? undefined,
    gpuSharing: resources.gpuSharing === 'exclusive' ? undefined : resources.gpuSharing,
    cpus: resources.cpus || undefined,
    memoryBytes: resources.memoryBytes ?? undefined,
    diskBytes: resources.diskBytes ?? undefined,
  }
}

function placementRecord(placement: JobSpec['placement']) {
  return {
    worker: placement.worker ?? undefined,
    exclude: anyOf(placement.exclude),
    tags: anyOf(placement.tags),
    avoidTags: anyOf(placement.avoidTags),
    preferTags: anyOf(placement.preferTags),
  }
}

function isOnce({ max, on, initialMs, maxMs }: JobSpec['retries']): boolean {
  const once = NO_RETRIES
  return max === once.max && on.join() === once.on.join() && initialMs === once.initialMs && maxMs === once.maxMs
}

function anyOf<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}

function anyKey<T extends object>(record: T): T | undefined {
  for (const _ in record) return record
  return undefined
}

function anyValue(record: Readonly<Record<string, unknown>>): object | undefined {
  for (const key in record) if (record[key] !== undefined) return record
  return undefined
}
