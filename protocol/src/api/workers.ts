import { z } from 'zod'
import { Abilities, GpuSample, Hardware, HostSample } from '../machine.ts'
import { Device } from './devices.ts'

const time = z.iso.datetime()

export const WorkerState = z.enum(['ready', 'draining', 'away'])
export type WorkerState = z.infer<typeof WorkerState>

export const Worker = z.object({
  id: z.string(),
  name: z.string(),
  state: WorkerState,
  version: z.string(),
  tags: z.array(z.string()),
  maxJobs: z.int(),
  running: z.int(),
  cpus: z.object({ total: z.number(), claimed: z.number() }),
  memoryBytes: z.object({ total: z.number(), claimed: z.number() }),
  /** `out` are quarantined or faulty. */
  gpus: z.object({ total: z.int(), claimed: z.int(), out: z.int().default(0) }),
  simulated: z.boolean(),
  /** Which protocol it speaks; `native` is our own. */
  dialect: z.string().default('native'),
  /** What runs containers there; null where nothing does. */
  engine: z.object({ name: z.string(), version: z.string(), images: z.int() }).nullable().default(null),
  registeredAt: time,
  lastSeenAt: time.nullable(),
})
export type Worker = z.infer<typeof Worker>

export const WorkerSample = z.object({ at: time, host: HostSample.nullable(), gpus: z.array(GpuSample) })
export type WorkerSample = z.infer<typeof WorkerSample>

export const WorkerDetail = Worker.extend({
  hardware: Hardware,
  devices: z.array(Device).default([]),
  abilities: Abilities,
  samples: z.array(WorkerSample),
  attempts: z.array(z.object({ job: z.uuid(), attempt: z.int(), state: z.string(), gpus: z.array(z.string()) })),
})
export type WorkerDetail = z.infer<typeof WorkerDetail>

export const WorkerList = z.object({ workers: z.array(Worker) })
export type WorkerList = z.infer<typeof WorkerList>
