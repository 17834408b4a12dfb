import { z } from 'zod'
import { PULLS } from '../container-spec.ts'
import { EXECUTORS, GpuDifficulty, USES } from '../machine.ts'
import { Session } from '../session-spec.ts'
import { ISOLATIONS } from '../spec-input.ts'

/** A distinct request of resources and placement; equal shapes share a bucket. */
export const Shape = z.object({
  executor: z.enum(EXECUTORS),
  gpus: z.number(),
  gpuMemoryMb: z.number(),
  gpuModel: z.string().nullable(),
  /** Absent: a device of any difficulty. */
  gpuDifficulty: GpuDifficulty.optional(),
  /** Shared: `gpuMemoryMb` of each device is claimed, and others may have the rest. */
  gpuSharing: z.enum(['exclusive', 'shared']).default('exclusive'),
  cpusMilli: z.number(),
  memoryMb: z.number(),
  worker: z.string().nullable(),
  /** Names or ids of workers the job must not run on. */
  exclude: z.array(z.string()).default([]),
  tags: z.array(z.string()),
  avoidTags: z.array(z.string()).default([]),
  preferTags: z.array(z.string()).default([]),
  /** The worker's own Python runs the script. */
  python: z.boolean().default(false),
  isolation: z.enum(ISOLATIONS),
  network: z.enum(['none', 'internet', 'host']).nullable(),
  image: z.string().nullable().default(null),
  pull: z.enum(PULLS).default('missing'),
  /** Folders of the machine it mounts. */
  mounts: z.array(z.string()).default([]),
  /** What a session task waits for (`taskTarget`); null for all other jobs. */
  target: z.string().nullable().default(null),
  /** It is a session: its worker must be able to keep one. */
  session: z.literal(true).optional(),
  /** Of a program: the type, and what of its spec not every worker can carry. */
  type: z.string().optional(),
  uses: z.array(z.enum(USES)).optional(),
  /** The hash of the packages it needs, and the Python it needs them for, such as "3.11". */
  environment: z.string().optional(),
  interpreter: z.string().optional(),
  /** Workers may have it whose results nobody can vouch for. */
  unverified: z.literal(true).optional(),
})
export type Shape = Readonly<z.infer<typeof Shape>>

/** What the hub needs to know of a job while it lives, beyond its shape. */
export const Terms = z.object({
  timeoutMs: z.number().nullable(),
  lostAfterMs: z.number().nullable(),
  retryMax: z.number(),
  retryOn: z.array(z.enum(['failed', 'timed_out'])),
  retryInitialMs: z.number(),
  retryMaxMs: z.number(),
  /** The job is a session. */
  session: Session.extend({ preset: z.string().nullable() }).nullable().default(null),
})
export type Terms = Readonly<z.infer<typeof Terms>>
