import { z } from 'zod'
import { ARCHIVES, InnerPath, InputFile, Sha256 } from './artifact.ts'
import { completeDependencies, Dependency, DependsOnInput } from './dependency.ts'
import { checkInput, checkTransfers, DEFAULT_CPUS, isInline, JOB_TYPES } from './job-types.ts'
import { parseDuration, parseSize } from './quantity.ts'
import { checkSecretUses, SecretUse, SecretUseInput, secretUses } from './secret.ts'
import { type SpecIssue, specIssues } from './spec-issues.ts'
import { text, word } from './spec-text.ts'
import { SWEEP_KEYS } from './sweep.ts'
import { asksForDevices, checkWishes, PlacementInput, placementOf } from './wishes.ts'

const DAY_MS = 86_400_000
export const MAX_SPEC_BYTES = 256 * 1024

const size = (what: string) =>
  z.union([z.string(), z.number()]).transform((text, context) => {
    const bytes = parseSize(text)
    if (bytes !== null) return bytes
    context.addIssue({
      code: 'custom',
      message: `${what} is a size of 0 or more like "24GB", "16Gi" or a number of bytes`,
    })
    return z.NEVER
  })
const duration = (what: string, maxMs = 30 * DAY_MS) =>
  z.union([z.string(), z.number()]).transform((text, context) => {
    const ms = parseDuration(text)
    if (ms !== null && ms > 0 && ms <= maxMs) return ms
    context.addIssue({
      code: 'custom',
      message: `${what} is a duration like "90s", "10m", "1h30m" or a number of seconds, above 0 and at most ${maxMs / DAY_MS} days`,
    })
    return z.NEVER
  })
const later = (reason: string) => z.custom<never>(value => value === undefined, { message: reason }).optional()
export const Priority = z.int().min(-100).max(100)

const RETRYABLE = ['failed', 'timed_out'] as const
export const NO_RETRIES = { max: 0, on: ['failed' as const], initialMs: 1000, maxMs: 300_000 }
export const OUTPUT_LIMIT_BYTES = 2 ** 30
const Retries = z.union([
  z.int().min(0).max(100),
  z.strictObject({
    max: z.int().min(0).max(100),
    on: z.array(z.enum(RETRYABLE)).min(1).default(['failed']),
    backoff: z
      .strictObject({
        initial: duration('backoff.initial').default(1000),
        max: duration('backoff.max').default(300_000),
      })
      .default({ initial: 1000, max: 300_000 }),
  }),
])

const FileInput = z
  .strictObject({
    path: z.union([InnerPath, z.literal('.')]),
    sha256: Sha256,
    size: z.int().min(0),
    unpack: z.enum(ARCHIVES).optional(),
    executable: z.boolean().optional(),
  })
  .refine(file => file.path !== '.' || file.unpack !== undefined, {
    path: ['path'],
    message: 'only an archive that is unpacked can be put at "."; a file needs a name',
  })

/** What an ended job left, as a file of another: the hub finds its content when the job is submitted. */
export const BorrowedFile = z.strictObject({
  path: z.union([InnerPath, z.literal('.')]),
  job: text(200),
  artifact: InnerPath,
  unpack: z.enum(ARCHIVES).optional(),
  executable: z.boolean().optional(),
})
export type BorrowedFile = z.output<typeof BorrowedFile>

/** A pattern over paths below the job's folder. */
const Glob = text(500)
  .refine(glob => !glob.startsWith('/') && !glob.split('/').includes('..'), 'a pattern is relative and has no ".."')
  .refine(glob => !glob.startsWith('!'), 'a pattern says what is kept, so it does not begin with "!"')

const SpecInput = z.strictObject({
  name: text(200).optional(),
  type: z.enum(JOB_TYPES).optional(),
  command: z
    .union([
      text(64_000),
      z
        .array(word(128_000))
        .min(1, 'a command has at least one word')
        .refine(words => words[0] !== '', 'the first word of a command is not empty'),
    ])
    .optional(),
  input: z.record(z.string(), z.json()).optional(),
  env: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a variable name has letters, digits and _ and does not start with a digit'),
      word(128_000),
    )
    .optional(),
  isolation: z
    .enum(['auto', 'none', 'sandbox', 'container'])
    .refine(v => v !== 'container', 'containers are not available in this release; allowed: "auto", "none", "sandbox"')
    .optional(),
  network: z.enum(['none', 'internet', 'host']).optional(),
  resources: z
    .strictObject({
      gpus: z.int().min(0).max(64).optional(),
      gpuMemory: size('gpuMemory').optional(),
      gpuModel: text(100).optional(),
      gpuSharing: z.enum(['exclusive', 'shared']).optional(),
      cpus: z.number().min(0).max(4096).optional(),
      memory: size('memory').optional(),
      disk: size('disk').optional(),
    })
    .optional(),
  placement: PlacementInput.optional(),
  priority: Priority.optional(),
  timeout: duration('timeout').optional(),
  lostAfter: duration('lostAfter').optional(),
  retries: Retries.optional(),
  dependsOn: DependsOnInput.optional(),
  hold: z.boolean().optional(),
  labels: z
    .record(text(100), z.string().max(200))
    .refine(l => Object.keys(l).length <= 32, 'at most 32 labels')
    .optional(),
  outputLimit: size('outputLimit').optional(),
  outputs: z.array(Glob).max(100).optional(),
  files: z.array(FileInput).max(1000).optional(),
  image: later('containers are not available in this release'),
  secrets: z.array(SecretUseInput).max(32).optional(),
})

/** A job as people write it: for the OpenAPI document and editors. What is borrowed is content by the time a spec is parsed. */
export const JobSpecInput = SpecInput.extend({
  files: z
    .array(z.union([FileInput, BorrowedFile]))
    .max(1000)
    .optional(),
})
export type JobSpecInput = z.input<typeof JobSpecInput>

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
  isolation: z.enum(['auto', 'none', 'sandbox']).default('auto'),
  network: z.enum(['none', 'internet', 'host']).nullable().default(null),
  resources: z
    .object({
      gpus: z.number().default(0),
      gpuMemoryBytes: z.number().nullable().default(null),
      gpuModel: z.string().nullable().default(null),
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
})
export type JobSpec = Readonly<z.infer<typeof JobSpec>>

export type ParsedSpec =
  | { readonly ok: true; readonly spec: JobSpec }
  | { readonly ok: false; readonly issues: readonly SpecIssue[] }

/** Parse once at the edge: everything wrong is found in one go, each with its path. */
export function parseJobSpec(value: unknown): ParsedSpec {
  const parsed = SpecInput.safeParse(value)
  if (!parsed.success) return { ok: false, issues: specIssues(parsed.error, value, knownKeys) }
  const input = parsed.data
  const type = input.type ?? 'command'
  const issues = [
    ...checkInput(type, input.command, input.input ?? NOTHING),
    ...checkTransfers(type, input),
    ...checkWishes(input.resources ?? NOTHING, input.placement ?? NOTHING),
  ]
  if (issues.length > 0) return { ok: false, issues }
  if (input.isolation === 'none' && input.network === 'none') {
    return {
      ok: false,
      issues: [
        { path: 'network', message: 'found "none" with isolation "none"; only a sandbox can take the network away' },
      ],
    }
  }
  const spec = complete(input, type)
  const wrongSecrets = secretIssues(spec)
  return wrongSecrets.length > 0 ? { ok: false, issues: wrongSecrets } : { ok: true, spec }
}

function secretIssues({ type, secrets, env }: JobSpec): readonly SpecIssue[] {
  if (secrets.length === 0) return NONE
  if (isInline(type)) return [{ path: 'secrets', message: `type ${type} starts no program that could read them` }]
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
  const share = isInline(type) ? INLINE_SHARE : PROGRAM_SHARE
  return {
    name: input.name ?? defaultName(type, input.command),
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
    retries: input.retries === undefined ? NO_RETRIES : retriesOf(input.retries),
    labels: input.labels ?? NOTHING,
    outputLimitBytes: input.outputLimit ?? OUTPUT_LIMIT_BYTES,
    files: files === undefined ? NONE : files.map(fileOf),
    outputs: outputs === undefined ? NONE : [...new Set(outputs)],
    dependsOn: dependsOn === undefined ? NONE : completeDependencies(dependsOn),
    hold: input.hold ?? false,
    secrets: secrets === undefined ? NONE : secretUses(secrets),
  }
}

function resourcesOf(asked: NonNullable<z.output<typeof SpecInput>['resources']>, cpus: number): JobSpec['resources'] {
  return {
    gpus: asked.gpus ?? (asksForDevices(asked) ? 1 : 0),
    gpuMemoryBytes: asked.gpuMemory ?? null,
    gpuModel: asked.gpuModel ?? null,
    gpuSharing: asked.gpuSharing ?? 'exclusive',
    cpus: asked.cpus ?? cpus,
    memoryBytes: asked.memory ?? null,
    diskBytes: asked.disk ?? null,
  }
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
  resources: ['gpus', 'gpuMemory', 'gpuModel', 'gpuSharing', 'cpus', 'memory', 'disk'],
  placement: ['worker', 'exclude', 'tags'],
  'placement.tags': ['require', 'avoid', 'prefer'],
  retries: ['max', 'on', 'backoff'],
  'retries.backoff': ['initial', 'max'],
}
const TOP = [...Object.keys(SpecInput.shape), ...SWEEP_KEYS]

function knownKeys(path: string): readonly string[] {
  return NESTED[path] ?? TOP
}
