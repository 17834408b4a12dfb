import { z } from 'zod'
import { JobState } from '../life.ts'
import { WaitingFor } from './jobs.ts'

const time = z.iso.datetime()

/** Why a job does not start on some workers, told once for all whose reasons are the same. */
export const WaitReason = z.object({
  /** `never`: not even on the idle worker. `notNow`: at another time. */
  when: z.enum(['never', 'notNow']),
  codes: z.array(z.string()),
  text: z.string(),
  /** The names of the first of them; `count` counts all. */
  workers: z.object({ count: z.int(), names: z.array(z.string()) }),
  /** The worker the text is about, where the others differ from it in amounts only. */
  closest: z.string().nullable(),
  /** The job a worker is kept for. */
  job: z.uuid().nullable(),
})
export type WaitReason = z.infer<typeof WaitReason>

/** When a job will start, and what that was reckoned from; no times where nothing is known. */
export const StartEstimate = z.object({
  p50: time.nullable(),
  p90: time.nullable(),
  basis: z.string(),
  /** Ended runs of such jobs it rests on. */
  runs: z.int(),
})
export type StartEstimate = z.infer<typeof StartEstimate>

/** A change after which the very next plan starts the job, tried on live state at the moment of the answer. */
export const StartingChange = z.object({
  kind: z.enum(['spec', 'priority', 'release', 'limit', 'resume', 'return']),
  text: z.string(),
  edits: z.array(
    z.object({
      field: z.string(),
      from: z.union([z.string(), z.number()]).nullable(),
      to: z.union([z.string(), z.number()]).nullable(),
    }),
  ),
  /** The worker that would take the job. */
  worker: z.string(),
})
export type StartingChange = z.infer<typeof StartingChange>

/** Why a job waits, when it will start and what would start it now; of a job that has started, only the summary. */
export const Explanation = z.object({
  job: z.object({ id: z.uuid(), name: z.string(), state: JobState, owner: z.string(), priority: z.int() }),
  summary: z.string(),
  waitingFor: WaitingFor.nullable(),
  reasons: z.array(WaitReason),
  /** Jobs that compete for the same workers and come first. */
  position: z.object({ ahead: z.int(), isExact: z.boolean() }).nullable(),
  start: StartEstimate.nullable(),
  /** The smallest first. */
  changes: z.array(StartingChange),
})
export type Explanation = z.infer<typeof Explanation>
