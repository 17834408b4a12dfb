/** After so many offers in a row that came to nothing a worker is asked less and less often. */
const PATIENT_DECLINES = 3
const FIRST_PAUSE_MS = 15_000
const LONGEST_PAUSE_MS = 600_000

export interface Asker {
  readonly maxJobs: number
  /** What the hub's ledger says it has. */
  readonly busy: number
  /** Attempts that ended a moment ago and whose slot, or GPU, the node has not yet freed. */
  readonly lingering: number
  readonly lingersOnGpu: boolean
  /** Offers in a row that came to nothing, and when the last did. */
  readonly declines: number
  readonly declinedAt: number
}

/** How many jobs a worker that asks may get now. */
export function mostFor(asker: Asker, now: number): number {
  const { declines, declinedAt, busy, lingering, maxJobs } = asker
  if (asker.lingersOnGpu || now - declinedAt < pauseMs(declines)) return 0
  const free = Math.max(0, maxJobs - busy - lingering)
  return declines > 0 ? Math.min(1, free) : free
}

function pauseMs(declines: number): number {
  if (declines < PATIENT_DECLINES) return 0
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (declines - PATIENT_DECLINES))
}
