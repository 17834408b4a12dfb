import { z } from 'zod'

/** What a worker writes about itself into its data folder, for commands on its machine; `processStart` and `bootId` tell whether it still runs. */
export const WorkerStatus = z.object({
  pid: z.int(),
  processStart: z.string(),
  bootId: z.string(),
  workerId: z.string(),
  name: z.string(),
  version: z.string(),
  hub: z.string(),
  startedAt: z.iso.datetime(),
  connectedSince: z.iso.datetime().nullable(),
  running: z.int(),
  maxJobs: z.int(),
  /** Of a worker at a foreign scheduler: its own figures, in the words of that dialect. */
  node: z.record(z.string(), z.json()).optional(),
})
export type WorkerStatus = Readonly<z.infer<typeof WorkerStatus>>

/** The name of the file in the worker's data folder. */
export const WORKER_STATUS_FILE = 'status.json'
