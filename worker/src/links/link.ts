import type { Delivery } from '../run/delivery.ts'
import type { Runner } from '../run/runner.ts'

/**
 * A worker's way to one kind of hub. It gives what the hub offers to the runner, once each, and brings back what the
 * runner delivers, through breaks of the hub and of the worker itself.
 */
export interface Link extends Delivery {
  /** Goes on with what an earlier process of this worker left, then begins to talk; a hub that is away is waited for. */
  start(runner: Runner): Promise<void>
  /** Says what this worker can do now, unless the hub knows it. */
  tellAbilities(): void
  /** From now on nothing new is taken. */
  drain(): void
  /** Says goodbye once everything told is safe at the hub, or when the time is up; what is left is told by the next process. */
  leave(reason: string, withinMs: number): Promise<void>
  /** Falls silent at once, in order; programs and what is not told yet are left to the next process. */
  close(): Promise<void>
}

/** What the worker around a link wants to hear of it. */
export interface LinkEvents {
  readonly ready: () => void
  /** Told when the hub has welcomed it, and when the connection is gone. */
  readonly connection: (isOpen: boolean) => void
  /** The hub refused this worker for good. */
  readonly refused: (message: string) => void
}
