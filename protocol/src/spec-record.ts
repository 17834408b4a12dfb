import { z } from 'zod'
import { byKeys } from './by-keys.ts'
import { JobSpec } from './job-spec.ts'
import { NO_RETRIES, OUTPUT_LIMIT_BYTES } from './spec-input.ts'

/** The text that is kept of a spec, a twentieth of the whole for a small job: what `readSpec` puts back is left out. */
export function writeSpec(spec: JobSpec): string {
  return JSON.stringify(specRecord(spec))
}

export function readSpec(text: string): JobSpec {
  return SentSpec.parse(JSON.parse(text))
}

const readSaid = byKeys(JobSpec)
/** What a spec means that says nothing; shared by all that do, never written to. */
const SILENT = JobSpec.parse({ name: '', type: 'noop' })
for (const part of Object.values(SILENT)) Object.freeze(part)

/** A spec as it is kept and sent; only what it says is looked at. */
export const SentSpec = z.unknown().transform((record, context): JobSpec => {
  const said = readSaid(record)
  const isWhole = said.success && said.data.name !== undefined && said.data.type !== undefined
  if (isWhole) return { ...SILENT, ...said.data }
  const { error } = JobSpec.safeParse(record)
  for (const { code: _, ...issue } of error?.issues ?? []) context.addIssue({ code: 'custom', ...issue })
  return z.NEVER
})

/** A spec as it is kept and sent. */
type SpecRecord = z.input<typeof JobSpec>

type Said<T> = { -readonly [K in keyof T]?: T[K] }

/** Only what is said is put in, in the order of the schema: this runs for every job that comes in. */
export function specRecord(spec: JobSpec): SpecRecord {
  const said: Said<SpecRecord> & Pick<SpecRecord, 'name' | 'type'> = { name: spec.name, type: spec.type }
  if (spec.command !== null) said.command = spec.command
  if (hasKeys(spec.input)) said.input = spec.input
  if (hasKeys(spec.env)) said.env = spec.env
  if (spec.isolation !== 'auto') said.isolation = spec.isolation
  if (spec.network !== null) said.network = spec.network
  const resources = resourcesRecord(spec.resources)
  if (hasKeys(resources)) said.resources = resources
  const placement = placementRecord(spec.placement)
  if (hasKeys(placement)) said.placement = placement
  if (spec.priority !== 0) said.priority = spec.priority
  if (spec.timeoutMs !== null) said.timeoutMs = spec.timeoutMs
  if (spec.lostAfterMs !== null) said.lostAfterMs = spec.lostAfterMs
  if (!isOnce(spec.retries)) said.retries = spec.retries
  if (hasKeys(spec.labels)) said.labels = spec.labels
  if (spec.outputLimitBytes !== OUTPUT_LIMIT_BYTES) said.outputLimitBytes = spec.outputLimitBytes
  if (spec.files.length > 0) said.files = spec.files
  if (spec.outputs.length > 0) said.outputs = spec.outputs
  if (spec.dependsOn.length > 0) said.dependsOn = spec.dependsOn
  if (spec.hold) said.hold = true
  if (spec.secrets.length > 0) said.secrets = spec.secrets
  if (spec.container !== null) said.container = spec.container
  if (spec.model !== null) said.model = spec.model
  if (spec.preset !== null) said.preset = spec.preset
  if (spec.session !== null) said.session = spec.session
  if (spec.task !== null) said.task = spec.task
  if (spec.environment !== null) said.environment = spec.environment
  if (spec.ranks !== null) said.ranks = spec.ranks
  return said
}

function resourcesRecord(resources: JobSpec['resources']): object {
  const said: Said<JobSpec['resources']> = {}
  if (resources.gpus !== 0) said.gpus = resources.gpus
  if (resources.gpuMemoryBytes !== null) said.gpuMemoryBytes = resources.gpuMemoryBytes
  if (resources.gpuModel !== null) said.gpuModel = resources.gpuModel
  if (resources.gpuDifficulty !== undefined) said.gpuDifficulty = resources.gpuDifficulty
  if (resources.gpuSharing !== 'exclusive') said.gpuSharing = resources.gpuSharing
  if (resources.cpus !== 0) said.cpus = resources.cpus
  if (resources.memoryBytes !== null) said.memoryBytes = resources.memoryBytes
  if (resources.diskBytes !== null) said.diskBytes = resources.diskBytes
  return said
}

function placementRecord(placement: JobSpec['placement']): object {
  const said: Said<JobSpec['placement']> = {}
  if (placement.worker !== null) said.worker = placement.worker
  if (placement.exclude.length > 0) said.exclude = placement.exclude
  if (placement.tags.length > 0) said.tags = placement.tags
  if (placement.avoidTags.length > 0) said.avoidTags = placement.avoidTags
  if (placement.preferTags.length > 0) said.preferTags = placement.preferTags
  if (placement.unverified) said.unverified = true
  return said
}

function isOnce(retries: JobSpec['retries']): boolean {
  const { max, on, initialMs, maxMs } = NO_RETRIES
  return (
    retries === NO_RETRIES ||
    (retries.max === max &&
      retries.on.join() === on.join() &&
      retries.initialMs === initialMs &&
      retries.maxMs === maxMs)
  )
}

function hasKeys(record: object): boolean {
  for (const _ in record) return true
  return false
}
