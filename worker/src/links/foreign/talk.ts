import type { JobSpec, LiveAttempt, Progress } from '@stoker/protocol'
import type { JobRecord } from './job-record.ts'

/** One job as its talk sees it. */
export interface HeldJob {
  readonly record: JobRecord
  /** Where its output and its work are. */
  readonly folder: string
  /** What it used when someone looked last. */
  readonly usage: Pick<LiveAttempt, 'cpus' | 'memoryBytes'> | null
  /** Aborts when the link closes: what is not told by then is told by the next process. */
  readonly signal: AbortSignal
  /** Writes down what the talk has changed in the record. */
  save(options?: { readonly durable?: boolean }): void
  /** The hub does not want it any more. */
  stop(text: string): void
}

/** What may start, or `refused`: the hub gave it to someone else. */
export type Beginning = JobSpec | 'refused'

/** A job that this worker cannot run, with the reason: another worker may. */
export class CannotStart extends Error {}

/** The conversation with a foreign hub about one job. */
export interface Talk {
  /** All that has to happen before the program may start; may be asked again after a restart. Rejects with the reason why it cannot start. */
  begin(signal: AbortSignal): Promise<Beginning>
  started(): void
  progress(progress: Progress): void
  /** The output has grown. */
  output(): void
  /** Its end is in the record: tells it until the hub has answered for good. */
  finish(): Promise<void>
  /** Falls silent. */
  close(): Promise<void>
}

/** About a job of another hub, which this worker served before: its end is kept until it serves that one again. */
export const SILENT: Talk = {
  ...{ started: () => {}, progress: () => {}, output: () => {} },
  ...{ begin: async () => 'refused', finish: async () => {}, close: async () => {} },
}
