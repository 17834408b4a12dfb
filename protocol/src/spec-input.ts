import { z } from 'zod'
import { ARCHIVES, InnerPath, Sha256 } from './artifact.ts'
import { ContainerInput, ImageName, Model, MountInput, PULLS } from './container-spec.ts'
import { DependsOnInput } from './dependency.ts'
import { EnvironmentInput, Ranks } from './environment-spec.ts'
import { JOB_TYPES } from './job-types.ts'
import { GpuDifficulty } from './machine.ts'
import { duration, size } from './quantity-input.ts'
import { SecretUseInput } from './secret.ts'
import { SessionInput, TaskInput } from './session-spec.ts'
import { text, word } from './spec-text.ts'
import { PlacementInput } from './wishes.ts'

/** How far a program is kept apart from its worker's machine. */
export const ISOLATIONS = ['auto', 'none', 'sandbox', 'container'] as const
export const MAX_SPEC_BYTES = 256 * 1024

export const Priority = z.int().min(-100).max(100)

export const RETRYABLE = ['failed', 'timed_out'] as const
export const NO_RETRIES = { max: 0, on: ['failed' as const], initialMs: 1000, maxMs: 300_000 }
export const OUTPUT_LIMIT_BYTES = 2 ** 30
export const Retries = z.union([
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

export const FileInput = z
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

/** What may be written, checked strictly; sizes and durations come out as numbers. */
export const SpecInput = z.strictObject({
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
  isolation: z.enum(ISOLATIONS).optional(),
  network: z.enum(['none', 'internet', 'host']).optional(),
  resources: z
    .strictObject({
      gpus: z.int().min(0).max(64).optional(),
      gpuMemory: size('gpuMemory').optional(),
      gpuModel: text(100).optional(),
      gpuDifficulty: GpuDifficulty.optional(),
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
  image: ImageName.optional(),
  pull: z.enum(PULLS).optional(),
  container: ContainerInput.optional(),
  mounts: z.array(MountInput).max(32).optional(),
  model: Model.optional(),
  preset: text(400).optional(),
  session: SessionInput.optional(),
  task: TaskInput.optional(),
  environment: EnvironmentInput.optional(),
  ranks: Ranks.optional(),
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
