import { type Fence, fenceKey } from '@stoker/protocol'
import type { Note } from './note.ts'
import type { Registration } from './registration.ts'
import type { Sighting } from './rules/conflict.ts'
import type { Held, HeldBy } from './rules/held.ts'
import type { Excess } from './rules/lost-completion.ts'
import type { WorkerSettings } from './worker-facts.ts'

/** A worker as the gateway knows it; times are lease time. */
export interface KnownWorker {
  readonly id: string
  /** What the engine calls it. */
  readonly key: string
  owner: string
  told: Registration
  address: string
  settings: WorkerSettings
  /** Offers in a row that came to nothing. */
  declines: number
  declinedAt: number
  conflict: string | null
  /** When that was last seen. */
  conflictAt: number
  /** Some of its jobs ended without a report, nobody knows which. */
  doubt: string | null
  /** What was last shown of all that. */
  remarks: string
  heardAt: number
  seen: Sighting | null
  polledAt: number
  fastPolls: number
  excess: Excess | null
  readonly held: Map<string, Held>
  /** Attempts that ended by their runner's word, until the node says so too. */
  readonly lingering: Map<string, { readonly until: number; readonly gpus: number }>
  /** What is done for it one after the other. */
  turn: Promise<unknown>
}

/** All workers of the dialect and what they have, in the hub's own book. */
export class Ledger {
  readonly #workers = new Map<string, KnownWorker>()
  readonly #byAttempt = new Map<string, { readonly worker: KnownWorker; readonly held: Held }>()
  readonly #byFence = new Map<string, string>()

  get workers(): Iterable<KnownWorker> {
    return this.#workers.values()
  }

  worker(id: string): KnownWorker | undefined {
    return this.#workers.get(id)
  }

  put(worker: KnownWorker): void {
    this.#workers.set(worker.id, worker)
  }

  forget(key: string): void {
    for (const worker of this.#workers.values()) {
      if (worker.key !== key) continue
      for (const { fence } of [...worker.held.values()]) this.drop(fence)
      this.#workers.delete(worker.id)
    }
  }

  /** By the id its worker knows it by. */
  find(attemptId: string): { readonly worker: KnownWorker; readonly held: Held } | undefined {
    return this.#byAttempt.get(attemptId)
  }

  findFence(fence: Fence): { readonly worker: KnownWorker; readonly held: Held } | undefined {
    return this.find(this.#byFence.get(fenceKey(fence)) ?? '')
  }

  hold(worker: KnownWorker, held: Held): void {
    const key = fenceKey(held.fence)
    worker.held.set(key, held)
    this.#byAttempt.set(held.id, { worker, held })
    this.#byFence.set(key, held.id)
  }

  drop(fence: Fence): void {
    const key = fenceKey(fence)
    const found = this.findFence(fence)
    if (found === undefined) return
    found.worker.held.delete(key)
    this.#byAttempt.delete(found.held.id)
    this.#byFence.delete(key)
  }

  has(attemptId: string): boolean {
    return this.#byAttempt.has(attemptId)
  }
}

export function heldBy({ told, heardAt, held }: KnownWorker): HeldBy {
  return { maxJobs: told.maxJobs, heardAt, held: [...held.values()] }
}

export function noteOf({ id, told, address, settings, declines, conflict, held }: KnownWorker): Note {
  return {
    v: 1,
    id,
    told,
    address,
    settings: { ...settings },
    declines,
    conflict,
    held: [...held.values()].map(({ id: attempt, fence, phase, checkedInAt, runner }) => ({
      id: attempt,
      ...fence,
      isGiven: phase !== 'preparing' && phase !== 'ready',
      isHeard: checkedInAt !== null,
      runner,
    })),
  }
}

/** Runs what is to be done for one worker after what was begun before. */
export function inTurn<T>(worker: KnownWorker, work: () => Promise<T>): Promise<T> {
  const done = worker.turn.then(work, work)
  worker.turn = done.catch(() => undefined)
  return done
}
