import type { JobRow } from '@stoker/protocol'
import { noteOf } from './task-labels.ts'

/** Counts who follows each task: when the last one leaves a task that is to end with its viewers, it is asked to end. */
export class Viewers {
  readonly #byTask = new Map<number, number>()
  readonly #abandoned: (row: JobRow) => void

  constructor(abandoned: (row: JobRow) => void) {
    this.#abandoned = abandoned
  }

  get size(): number {
    return this.#byTask.size
  }

  /** Returns the way to leave: `false` when the stream was cut before its end. */
  enter(row: JobRow): (hasSeenTheEnd: boolean) => void {
    this.#byTask.set(row.seq, (this.#byTask.get(row.seq) ?? 0) + 1)
    return hasSeenTheEnd => {
      const left = (this.#byTask.get(row.seq) ?? 1) - 1
      if (left > 0) this.#byTask.set(row.seq, left)
      else {
        this.#byTask.delete(row.seq)
        if (!hasSeenTheEnd && noteOf(row).onDisconnect === 'cancel') this.#abandoned(row)
      }
    }
  }
}
