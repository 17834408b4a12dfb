import type { Change, RowWrite } from '@stoker/protocol'
import type { NewJob } from '../commands.ts'
import type { Now, State } from '../state.ts'

/** A task and the session that takes it, by their numbers. */
export interface TaskPlacement {
  readonly job: number
  readonly session: number
}

/** What the scheduler tells the engine when it decides; the first two say why no worker that exists could ever run a shape, or null. */
export interface Rules {
  readonly unschedulable: (state: State, bucket: number) => string | null
  readonly unschedulableSpec: (state: State, job: NewJob) => string | null
  /** Which queued tasks get a place, and in which session. */
  readonly planTasks: (state: State, now: Now) => readonly TaskPlacement[]
  /** The devices a queued job would get on a worker that chose it, or why it cannot have it. */
  readonly claimable: (
    state: State,
    job: number,
    worker: string,
    now: Now,
  ) => { readonly gpus: readonly string[] } | { readonly refused: string }
  /** Idle sessions whose devices a job needs that fits nowhere else. */
  readonly evictions: (state: State, now: Now) => readonly number[]
}

/** Hands each change to the engine, which applies it at once: later decisions of the batch see it. */
export interface Emit {
  change(change: Change): void
  /** New jobs' specs and labels, for their rows. */
  submission(seq: number, job: NewJob): void
  rows(rows: readonly RowWrite[]): void
}
