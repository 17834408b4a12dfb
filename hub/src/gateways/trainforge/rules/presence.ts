import { type Held, type HeldBy, isFull } from './held.ts'
import { CALLS_AGAIN_MS, OFFLINE_MS, WORDLESS_MS } from './times.ts'

/** Why an attempt counts as lost now; null while it may be at work. A worker that is full has no reason to call, so its silence says nothing. */
export function lostBy(held: Held, worker: HeldBy, now: number): string | null {
  if (held.phase === 'lost') return null
  const { checkedInAt } = held
  if (checkedInAt !== null) {
    if (now - checkedInAt < OFFLINE_MS) return null
    return `its program did not check in for ${OFFLINE_MS / 1000} s`
  }
  if (held.isUnconfirmed && worker.heardAt > held.since && now - held.since >= CALLS_AGAIN_MS)
    return `its program did not call within ${CALLS_AGAIN_MS / 1000} s of the hub's start`
  if (now - worker.heardAt >= OFFLINE_MS && !isFull(worker))
    return `the worker was silent for ${OFFLINE_MS / 1000} s though it had a free slot`
  const longestMs = held.timeoutMs ?? WORDLESS_MS
  if (held.phase !== 'offered' && held.phase !== 'running') return null
  return now - held.since >= longestMs ? `nothing was heard of it for ${Math.round(longestMs / 60_000)} minutes` : null
}
