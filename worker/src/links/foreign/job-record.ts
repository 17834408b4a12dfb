import { AttemptReport, type EndedReport, type Fence } from '@stoker/protocol'
import { z } from 'zod'

const Sizes = z.object({ stdout: z.number(), stderr: z.number() })

/** A job of a foreign hub, as it is written down. `number` and `attempt` make the fence that its folder is named by. */
const Record = z.object({
  number: z.int(),
  attempt: z.int(),
  /** The hub's own name for the job, and which hub that is. */
  id: z.string(),
  hub: z.string(),
  takenAt: z.number(),
  /** As the hub gave it; the link that took it knows how to read it. */
  job: z.json(),
  need: z.object({ gpus: z.number(), cpus: z.number(), memoryBytes: z.number() }),
  uuids: z.array(z.string()),
  /** What it needs is kept for it. */
  isPlaced: z.boolean(),
  /** What the link wants to remember. */
  note: z.record(z.string(), z.json()),
  startedAt: z.number().nullable(),
  /** How far the output goes, and how much of it the hub has. */
  sizes: Sizes,
  logged: Sizes,
  end: AttemptReport.nullable(),
  isDeclined: z.boolean(),
  /** The last word about it, in exactly the words that are sent. */
  said: z.string().nullable(),
  toldAt: z.number().nullable(),
})

export type JobRecord = Omit<z.infer<typeof Record>, 'end'> & { end: EndedReport | null }

export function parseRecord(value: unknown): JobRecord | null {
  const { success, data } = Record.safeParse(value)
  if (!success || (data.end !== null && data.end.kind !== 'ended')) return null
  return { ...data, end: data.end }
}

export function fenceOf({ number, attempt }: Pick<JobRecord, 'number' | 'attempt'>): Fence {
  return { job: number, epoch: 0, attempt }
}
