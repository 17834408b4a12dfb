import type { Held } from './held.ts'
import { FRESH_CHECK_IN_MS, LOST_REPORT_CALLS, LOST_REPORT_MS } from './times.ts'

/** Since when, and in how many calls, a worker has fewer jobs than the hub thinks. */
export interface Excess {
  readonly since: number
  readonly calls: number
}

export interface Judgement {
  readonly excess: Excess | null
  /** They ended, and the report of it was lost. */
  readonly over: readonly Held[]
  /** Some of them ended, nobody can tell which. */
  readonly doubtful: readonly Held[]
}

/**
 * A poll proves that the worker has a free slot, a heartbeat says how many jobs it has: `atMost` of them. If the hub knows
 * of more, a report was lost, or is still on its way: that is waited for. Programs that checked in just now are alive.
 */
export function judgeCount(held: readonly Held[], atMost: number, before: Excess | null, now: number): Judgement {
  const there = held.filter(({ phase, isUnconfirmed }) => phase === 'running' || phase === 'lost' || isUnconfirmed)
  const missing = there.length - Math.max(0, atMost)
  if (missing <= 0) return { excess: null, over: [], doubtful: [] }
  const excess = before === null ? { since: now, calls: 0 } : { since: before.since, calls: before.calls + 1 }
  if (excess.calls < LOST_REPORT_CALLS || now - excess.since < LOST_REPORT_MS) return { excess, over: [], doubtful: [] }
  const silent = there.filter(({ checkedInAt }) => checkedInAt === null || now - checkedInAt >= FRESH_CHECK_IN_MS)
  if (silent.length <= missing) return { excess: null, over: silent, doubtful: [] }
  return { excess, over: [], doubtful: silent }
}
