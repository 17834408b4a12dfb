import { type GroupRow, isTerminal, type JobRow, JobState } from '@stoker/protocol'
import type { Complain } from './problems.ts'

/** Counts members as their rows are walked, to hold them against what the groups say. */
export class GroupCounts {
  readonly #counts = new Map<string, Record<JobState, number>>()

  take({ groupId, state }: JobRow): void {
    if (groupId === null) return
    const none = { waiting: 0, queued: 0, active: 0, succeeded: 0, failed: 0, canceled: 0, timed_out: 0 }
    const counts = this.#counts.get(groupId) ?? none
    counts[state] += 1
    this.#counts.set(groupId, counts)
  }

  /** Ended members may be forgotten after their retention; their group still counts them. */
  compare(group: GroupRow, complain: Complain): void {
    const real = this.#counts.get(group.id)
    const present = JobState.options.reduce((sum, state) => sum + (real?.[state] ?? 0), 0)
    for (const state of JobState.options) {
      const n = real?.[state] ?? 0
      const mayLack = isTerminal(state) && present < group.size
      if (mayLack ? n > group[state] : n !== group[state])
        complain('a', `${n} jobs of group ${group.id} are ${state}, its row says ${group[state]}`)
    }
    const live = group.waiting + group.queued + group.active
    if ((live === 0) !== (group.endedAt !== null))
      complain('a', `${live} jobs of group ${group.id} have not ended, its end is ${group.endedAt}`)
  }
}
