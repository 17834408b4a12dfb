import { z } from 'zod'

/** What a device is for, as its owner says: hard tasks are kept from devices for easy ones, and the other way round. */
export const DIFFICULTIES = ['low', 'high'] as const
export const GpuDifficulty = z.enum(DIFFICULTIES)
export type GpuDifficulty = z.infer<typeof GpuDifficulty>

export const Gpu = z.object({
  index: z.int().min(0),
  uuid: z.string(),
  name: z.string(),
  memoryMb: z.int().min(0),
  driver: z.string().nullable(),
  simulated: z.boolean(),
  /** Absent: nobody said. */
  difficulty: GpuDifficulty.optional(),
})
export type Gpu = Readonly<z.infer<typeof Gpu>>

export const GpuSample = z.object({
  uuid: z.string(),
  utilization: z.number().nullable(),
  memoryUsedMb: z.number().nullable(),
  temperatureC: z.number().nullable(),
  powerW: z.number().nullable(),
  powerLimitW: z.number().nullable(),
})
export type GpuSample = Readonly<z.infer<typeof GpuSample>>

/** What a worker sees of a device now: memory that programs of others use (null if it cannot tell), and what is wrong with it. */
export const DeviceNews = z.object({
  uuid: z.string(),
  foreignMb: z.number().min(0).nullable(),
  fault: z.string().nullable(),
})
export type DeviceNews = Readonly<z.infer<typeof DeviceNews>>

export const HostSample = z.object({
  cpuPercent: z.number(),
  memoryUsedBytes: z.number(),
  memoryTotalBytes: z.number(),
  /** Null in these three: its worker does not tell. */
  load1: z.number().nullable(),
  netRxBytes: z.number().nullable(),
  netTxBytes: z.number().nullable(),
})
export type HostSample = Readonly<z.infer<typeof HostSample>>

/** What a machine really has, as probed. */
export const Hardware = z.object({
  cpuModel: z.string(),
  cores: z.int().min(0),
  memoryBytes: z.int().min(0),
  disk: z.object({ freeBytes: z.int().min(0), totalBytes: z.int().min(0) }),
  hostname: z.string(),
  os: z.string(),
  arch: z.string(),
  pythons: z.array(z.object({ path: z.string(), version: z.string(), prefix: z.string() })),
  gpus: z.array(Gpu),
  gpuNote: z.string().nullable(),
})
export type Hardware = Readonly<z.infer<typeof Hardware>>

/** What runs a job: the worker itself, a process, a container, or a session that is already there. */
export const EXECUTORS = ['inline', 'process', 'container', 'task'] as const

/** How far an attempt was kept apart; `session`: it ran inside one. */
export const RUN_ISOLATIONS = ['inline', 'none', 'sandbox', 'container', 'session'] as const
export type RunIsolation = (typeof RUN_ISOLATIONS)[number]

/** The engine a worker runs containers with, and what its owner allows. */
export const Containers = z.object({
  engine: z.enum(['docker', 'podman']),
  version: z.string(),
  /** Devices can be given to containers. */
  gpus: z.boolean(),
  /** Patterns with `*`; empty: every image. */
  allowedImages: z.array(z.string()),
  /** Folders below which jobs may mount. */
  allowedMounts: z.array(z.string()),
  pulls: z.boolean(),
  /** What is there already, by every name it has. */
  images: z.array(z.string()),
})
export type Containers = Readonly<z.infer<typeof Containers>>

/** Whether a worker has what the program of a type needs: now, after an installation, or never. */
export const TypeAbility = z.object({
  state: z.enum(['ready', 'installable', 'impossible']),
  reason: z.string().nullable(),
})
export type TypeAbility = Readonly<z.infer<typeof TypeAbility>>

/** Parts of a spec that a worker of a foreign protocol may have no way to carry. */
export const USES = ['args', 'env', 'environment', 'files', 'model', 'outputs', 'ranks', 'secrets'] as const
export type Use = (typeof USES)[number]

/** A worker of another system: it runs only some types, in its own way. */
export const Foreign = z.object({
  dialect: z.string(),
  /** By type: whether what it computes is what was asked for, or nobody can tell. */
  types: z.record(z.string(), z.enum(['verified', 'unverified'])),
  uses: z.array(z.enum(USES)),
  maxGpus: z.int().min(0),
})
export type Foreign = Readonly<z.infer<typeof Foreign>>

/** What a worker can do with programs: where they run and how far they are kept apart. */
export const Abilities = z.object({
  executors: z.array(z.enum(EXECUTORS)),
  sandbox: z.boolean(),
  unsandboxed: z.boolean(),
  internet: z.boolean(),
  hostNetwork: z.boolean(),
  note: z.string().nullable(),
  /** Absent: it runs no containers. */
  containers: Containers.optional(),
  /** Of the types whose programs come with it; absent: it has none. */
  types: z.record(z.string(), TypeAbility).optional(),
  /** Of the sets of packages that are installed, by the hash of their requirements. */
  environments: z.array(z.string()).optional(),
  /** Absent: it is one of ours. */
  foreign: Foreign.optional(),
})
export type Abilities = Readonly<z.infer<typeof Abilities>>

/** Average and peak use of one attempt. */
export const Usage = z.object({
  cpuSeconds: z.number(),
  averageCpus: z.number(),
  peakCpus: z.number(),
  averageMemoryBytes: z.number(),
  peakMemoryBytes: z.number(),
  averageGpuPercent: z.number().nullable(),
  peakGpuPercent: z.number().nullable(),
  peakGpuMemoryMb: z.number().nullable(),
})
export type Usage = Readonly<z.infer<typeof Usage>>

export const Progress = z.object({
  percent: z.number().nullable(),
  operation: z.string().nullable(),
  metrics: z.record(z.string(), z.json()),
})
export type Progress = Readonly<z.infer<typeof Progress>>
