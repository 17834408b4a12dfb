import { z } from 'zod'

export const Gpu = z.object({
  index: z.int().min(0),
  uuid: z.string(),
  name: z.string(),
  memoryMb: z.int().min(0),
  driver: z.string().nullable(),
  simulated: z.boolean(),
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
  load1: z.number(),
  netRxBytes: z.number(),
  netTxBytes: z.number(),
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

/** What a worker can do with programs: where they run and how far they are kept apart. */
export const Abilities = z.object({
  executors: z.array(z.enum(['inline', 'process'])),
  sandbox: z.boolean(),
  unsandboxed: z.boolean(),
  internet: z.boolean(),
  hostNetwork: z.boolean(),
  note: z.string().nullable(),
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
