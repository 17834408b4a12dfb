import { type Held, type HeldBy, isFull } from './held.ts'
import { SLOW_REPORT_MS, UNSTARTED_MS } from './times.ts'

/** What is behind an offer that nothing came of; the node itself never says. */
export const LIKELY_REASONS =
  'no core below 70 % use, no free GPU with 4096 MB, a Docker daemon, the project folder not visible there, or no python on its PATH'

/** Why an offer counts as declined now; null while it may still be taken up. */
export function declinedBy(held: Held, worker: HeldBy, now: number): string | null {
  if (held.phase !== 'offered') return null
  const settles = !held.isUnconfirmed || worker.maxJobs === 1
  if (settles && held.polledAt !== null && now - held.polledAt >= SLOW_REPORT_MS)
    return 'it asked for more without having started this one'
  const isCalling = worker.heardAt > held.since
  const mayBeFull = isFull(worker) && now - worker.heardAt >= UNSTARTED_MS
  if (!held.isUnconfirmed && isCalling && !mayBeFull && now - held.since >= UNSTARTED_MS)
    return `it did not say within ${UNSTARTED_MS / 1000} s that this one runs`
  return null
}
