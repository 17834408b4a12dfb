import { z } from 'zod'
import { InputFile } from './artifact.ts'
import { byKeys } from './by-keys.ts'
import { Container, checkContainer, containerOf, Model } from './container-spec.ts'
import { completeDependencies, Dependency } from './dependency.ts'
import { checkEnvironment, Environment, environmentOf, Ranks } from './environment-spec.ts'
import { checkInput, checkTransfers, DEFAULT_CPUS, JOB_TYPES, startsProgram } from './job-types.ts'
import { GpuDifficulty } from './machine.ts'
import { checkSecretUses, SecretUse, secretUses } from './secret.ts'
import { checkSession, Session, sessionOf, Task, taskOf } from './session-spec.ts'
import {
  type FileInput,
  ISOLATIONS,
  NO_RETRIES,
  OUTPUT_LIMIT_BYTES,
  RETRYABLE,
  type Retries,
  SpecInput,
} from './spec-input.ts'
import { type SpecIssue, specIssues } from './spec-issues.ts'
import { SWEEP_KEYS } from './sweep.ts'
import { asksForDevices, checkPlacement, checkSharing, placementOf } from './wishes.ts'

/**
 * A job as the house knows it: defaults applied, sizes in bytes, durations in milliseconds. As it is kept and sent it
 * leaves out what says nothing (see `writeSpec`); what a missing field means here never changes.
 */
export const JobSpec = z.object({
  name: z.string(),
  type: z.enum(JOB_TYPES),
  command: z
    .union([z.string(), z.array(z.string())])
    .nullable()
    .default(null),
  input: z.record(z.string(), z.json()).default({}),
  env: z.record(z.string(), z.string()).default({}),
  isolation: z.enum(ISOLATIONS).default('auto'),
  network: z.enum(['none', 'internet', 'host']).nullable().default(null),
  resources: z
    .object({
      gpus: z.number().default(0),
      gpuMemoryBytes: z.number().nullable().default(null),
      gpuModel: z.string().nullable().default(null),
      /** Absent: a device of any difficulty. */
      gpuDifficulty: GpuDifficulty.optional(),
      gpuSharing: z.enum(['exclusive', 'shared']).default('exclusive'),
      cpus: z.number().default(0),
      memoryBytes: z.number().nullable().default(null),
      diskBytes: z.number().nullable().default(null),
    })
    .prefault({}),
  placement: z
    .object({
      worker: z.string().nullable().default(null),
      exclude: z.array(z.string()).default([]),
      tags: z.array(z.string()).default([]),
      avoidTags: z.array(z.string()).default([]),
      preferTags: z.array(z.string()).default([]),
      unverified: z.boolean().default(false),
    })
    .prefault({}),
  priority: z.number().default(0),
  timeoutMs: z.number().nullable().default(null),
  lostAfterMs: z.number().nullable().default(null),
  retries: z
    .object({
      max: z.number(),
      on: z.array(z.enum(RETRYABLE)),
      initialMs: z.number(),
      maxMs: z.number(),
    })
    .default(NO_RETRIES),
  labels: z.record(z.string(), z.string()).default({}),
  outputLimitBytes: z.number().default(OUTPUT_LIMIT_BYTES),
  files: z.array(InputFile).default([]),
  outputs: z.array(z.string()).default([]),
  dependsOn: z.array(Dependency).default([]),
  hold: z.boolean().default(false),
  secrets: z.array(SecretUse).default([]),
  container: Container.nullable().default(null),
  model: Model.nullable().default(null),
  /** What it was made from. */
  preset: z.string().nullable().default(null),
  session: Session.nullable().default(null),
  task: Task.nullable().default(null),
  environment: Environment.nullable().default(null),
  ranks: Ranks.nullable().default(null),
})
export type JobSpec = Readonly<z.infer<typeof JobSpec>>

export type ParsedSpec =
  | { readonly ok: true; readonly spec: JobSpec }
  | { readonly ok: false; readonly issues: readonly SpecIssue[] }

const readInput = byKeys(SpecInput)

/** Parse once at the edge: everything wrong is found in one go, each with its path. */
export function parseJobSpec(value: unknown): ParsedSpec {
  const parsed = readInput(value)
  if (!parsed.success) return { ok: false, issues: specIssues(parsed.error, value, knownKeys) }
  const input = parsed.data
  const type = input.type ?? (input.task === undefined ? 'command' : 'task')
  const issues = disagreements(input, type)
  if (issues.length > 0) return { ok: false, issues }
  const spec = complete(input, type)
  const wrongSecrets = secretIssues(spec)
  return wrongSecrets.length > 0 ? { ok: false, issues: wrongSecrets } : { ok: true, spec }
}

/** What is well written by itself and does not go together; each check adds what it finds. */
function disagreements(input: z.output<typeof SpecInput>, type: JobSpec['type']): SpecIssue[] {
  const isProgram = startsProgram(type)
  const issues: SpecIssue[] = []
  checkInput(type, input, issues)
  if (!isProgram) checkTransfers(type, input, issues)
  if (input.resources !== undefined) checkSharing(input.resources, issues)
  if (input.placement !== undefined) checkPlacement(input.placement, issues)
  checkContainer(input, isProgram, issues)
  checkSession(input, type, issues)
  checkEnvironment(input, isProgram, issues)
  if (issues.length === 0 && input.isolation === 'none' && input.network === 'none') {
    const message = 'found "none" with isolation "none"; only a sandbox can take the network away'
    issues.push({ path: 'network', message })
  }
  return issues
}

function secretIssues({ type, secrets, env }: JobSpec): readonly SpecIssue[] {
  if (secrets.length === 0) return NONE
  if (!startsProgram(type)) return [{ path: 'secrets', message: `type ${type} starts no program that could read them` }]
  return checkSecretUses(secrets, env)
}

/** Small jobs ask for next to nothing: what they leave out is shared by all, never written to. */
const NOTHING = Object.freeze({})
const NONE: never[] = []
Object.freeze(NONE)
const ANYWHERE = Object.freeze(placementOf({}))
const NO_DEVICE = {
  gpus: 0,
  gpuMemoryBytes: null,
  gpuModel: null,
  gpuSharing: 'exclusive' as const,
  memoryBytes: null,
  diskBytes: null,
}
const INLINE_SHARE = Object.freeze({ ...NO_DEVICE, cpus: 0 })
const PROGRAM_SHARE = Object.freeze({ ...NO_DEVICE, cpus: DEFAULT_CPUS })

function complete(input: z.output<typeof SpecInput>, type: JobSpec['type']): JobSpec {
  const { resources, placement, files, outputs, dependsOn, secrets } = input
  const share = startsProgram(type) ? PROGRAM_SHARE : INLINE_SHARE
  return {
    name: input.name ?? defaultName(type, input.command ?? input.image),
    type,
    command: input.command ?? null,
    input: input.input ?? NOTHING,
    env: input.env ?? NOTHING,
    isolation: input.isolation ?? 'auto',
    network: input.network ?? null,
    resources: resources === undefined ? share : resourcesOf(resources, share.cpus),
    placement: placement === undefined ? ANYWHERE : placementOf(placement),
    priority: input.priority ?? 0,
    timeoutMs: input.timeout ?? null,
    lostAfterMs: input.lostAfter ?? null,
    retries: input.retries === undefined ? restartsOf(input.session) : retriesOf(input.retries),
    labels: input.labels ?? NOTHING,
    outputLimitBytes: input.outputLimit ?? OUTPUT_LIMIT_BYTES,
    files: files === undefined ? NONE : files.map(fileOf),
    outputs: outputs === undefined ? NONE : [...new Set(outputs)],
    dependsOn: dependsOn === undefined ? NONE : completeDependencies(dependsOn),
    hold: input.hold ?? false,
    secrets: secrets === undefined ? NONE : secretUses(secrets),
    container: input.image === undefined ? null : containerOf(input),
    model: input.model ?? null,
    preset: input.preset ?? null,
    session: input.session === undefined ? null : sessionOf(input.session),
    task: input.task === undefined ? null : taskOf(input.task),
    environment: input.environment === undefined ? null : environmentOf(input.environment),
    ranks: input.ranks ?? null,
  }
}

function resourcesOf(asked: NonNullable<z.output<typeof SpecInput>['resources']>, cpus: number): JobSpec['resources'] {
  return {
    gpus: asked.gpus ?? (asksForDevices(asked) ? 1 : 0),
    gpuMemoryBytes: asked.gpuMemory ?? null,
    gpuModel: asked.gpuModel ?? null,
    ...(asked.gpuDifficulty === undefined ? {} : { gpuDifficulty: asked.gpuDifficulty }),
    gpuSharing: asked.gpuSharing ?? 'exclusive',
    cpus: asked.cpus ?? cpus,
    memoryBytes: asked.memory ?? null,
    diskBytes: asked.disk ?? null,
  }
}

/** A session that crashes is started again a few times. */
function restartsOf(session: z.output<typeof SpecInput>['session']): JobSpec['retries'] {
  return session?.restarts === undefined ? NO_RETRIES : { ...NO_RETRIES, max: session.restarts }
}

function retriesOf(asked: z.output<typeof Retries>): JobSpec['retries'] {
  if (typeof asked === 'number') return { ...NO_RETRIES, max: asked }
  const { max, on, backoff } = asked
  return { max, on, initialMs: backoff.initial, maxMs: backoff.max }
}

function fileOf({ unpack, executable, ...file }: z.output<typeof FileInput>): InputFile {
  return { ...file, unpack: unpack ?? null, executable: executable ?? false }
}

/** What a job is called that was given no name. */
export function defaultName(type: string, command: string | readonly string[] | undefined): string {
  if (command === undefined) return type
  const words = typeof command === 'string' ? command : command.join(' ')
  return words.length > 60 ? `${words.slice(0, 59)}…` : words
}

const NESTED: Readonly<Record<string, readonly string[]>> = {
  resources: ['gpus', 'gpuMemory', 'gpuModel', 'gpuDifficulty', 'gpuSharing', 'cpus', 'memory', 'disk'],
  placement: ['worker', 'exclude', 'tags', 'unverified'],
  environment: ['requirements', 'python'],
  'placement.tags': ['require', 'avoid', 'prefer'],
  retries: ['max', 'on', 'backoff'],
  container: ['user', 'workdir', 'writableRoot', 'shm', 'tmp'],
  session: ['concurrency', 'queue', 'idleTimeout', 'maxLifetime', 'restarts'],
  task: ['session', 'preset'],
  model: ['name', 'path', 'files'],
  'retries.backoff': ['initial', 'max'],
}
const TOP = [...Object.keys(SpecInput.shape), ...SWEEP_KEYS]

function knownKeys(path: string): readonly string[] {
  return NESTED[path] ?? TOP
}
