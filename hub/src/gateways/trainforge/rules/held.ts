import type { Fence } from '@stoker/protocol'

/*
 * preparing ──its folder is there──► ready ──named in a poll's answer──► offered ──running, or the runner calls──► running
 * claimed jobs begin as running; lost ones are what the hub gave up and their worker may still bring back
 */

/** What the gateway remembers of one attempt; times are lease time. */
export interface Held {
  readonly id: string
  readonly fence: Fence
  phase: 'preparing' | 'ready' | 'offered' | 'running' | 'lost'
  readonly gpus: number
  /** It was given out before the hub restarted: whether it was taken up may have been told to nobody. */
  isUnconfirmed: boolean
  /** When it was given out, or when the hub began to wait for news of it. */
  since: number
  /** The first poll behind the offer. */
  polledAt: number | null
  /** Last word of its runner script. */
  checkedInAt: number | null
  /** The job's own limit, if it has one. */
  readonly timeoutMs: number | null
  /** SHA-256 of the token its runner has. */
  runner: string
}

/** What the rules look at: the hub's own ledger of a worker, never the worker's figures. */
export interface HeldBy {
  readonly maxJobs: number
  /** Any call that carries its id. */
  readonly heardAt: number
  readonly held: readonly Held[]
}

/** Whether the worker has it, as far as the hub was told. */
export function isThere({ phase }: Held): boolean {
  return phase === 'offered' || phase === 'running' || phase === 'lost'
}

export function isFull({ held, maxJobs }: HeldBy): boolean {
  return held.filter(isThere).length >= maxJobs
}
