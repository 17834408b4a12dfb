import type { Change, RowWrite } from '@stoker/protocol'
import type { NewJob } from '../commands.ts'
import type { State } from '../state.ts'

/** What the scheduler tells the engine when it decides: why no worker that exists could ever run a shape, or null. */
export interface Rules {
  readonly unschedulable: (state: State, bucket: number) => string | null
  readonly unschedulableSpec: (state: State, job: NewJob) => string | null
}

/** Hands each change to the engine, which applies it at once: later decisions of the batch see it. */
export interface Emit {
  change(change: Change): void
  /** New jobs' specs and labels, for their rows. */
  submission(seq: number, job: NewJob): void
  rows(rows: readonly RowWrite[]): void
}
