import { Refused } from '@stoker/protocol'
import type { FastifyRequest } from 'fastify'

/** Whom a limit watches at once; of those who are quiet nothing needs to be known. */
const MOST_WATCHED = 10_000
/** A body counts as one request for each piece of this size. */
const BODY_PIECE_BYTES = 64 * 1024
/** What a body whose length is not told counts as. */
const UNTOLD_BODY_COST = 8

/** Too many requests of one caller: when to come again. */
export class RateLimited extends Refused {
  readonly retryAfterSeconds: number

  constructor(detail: string, waitMs: number) {
    super('rate.limited', detail)
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  }
}

/** So many a second on average, and as many as a burst at once; who never asks faster is never told. */
export class RateLimit {
  readonly #perSecond: number
  readonly #burst: number
  readonly #now: () => number
  readonly #buckets = new Map<string, { left: number; at: number }>()

  constructor(perSecond: number, burst: number, now: () => number) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#now = now
  }

  /** Milliseconds to wait, 0 when the request may pass. One dearer than a whole burst passes when nothing else did. */
  take(who: string, cost = 1): number {
    const now = this.#now()
    const bucket = this.#buckets.get(who) ?? this.#watch(who, now)
    const passed = Math.max(0, now - bucket.at)
    bucket.left = Math.min(this.#burst, bucket.left + (passed * this.#perSecond) / 1000)
    bucket.at = now
    const needed = Math.min(cost, this.#burst)
    if (bucket.left < needed) return ((needed - bucket.left) / this.#perSecond) * 1000
    bucket.left -= cost
    return 0
  }

  get watched(): number {
    return this.#buckets.size
  }

  /** The one watched longest is forgotten first: with so many strangers no single one is the flood. */
  #watch(who: string, now: number): { left: number; at: number } {
    if (this.#buckets.size >= MOST_WATCHED) {
      const [oldest] = this.#buckets.keys()
      if (oldest !== undefined) this.#buckets.delete(oldest)
    }
    const fresh = { left: this.#burst, at: now }
    this.#buckets.set(who, fresh)
    return fresh
  }
}

/** Requests a second of one owner; null means any number. Whoever has no valid token is always limited, by address. */
export interface RateLimits {
  readonly perOwner: number | null
  readonly strangers: number
}

/** Far above what a person or a well-made tool needs: a batch has up to 10,000 jobs. */
export const ORDINARY_LIMITS: RateLimits = { perOwner: 2000, strangers: 200 }

/** Keeps one owner, or one stranger, from taking the hub for themselves. Admins are not limited: the hub is theirs. */
export class Doorkeeper {
  readonly #owners: RateLimit | null
  readonly #strangers: RateLimit
  readonly #limits: RateLimits

  constructor(limits: RateLimits, now: () => number) {
    this.#limits = limits
    this.#owners = limits.perOwner === null ? null : new RateLimit(limits.perOwner, 2 * limits.perOwner, now)
    this.#strangers = new RateLimit(limits.strangers, 5 * limits.strangers, now)
  }

  passOwner(owner: string, request: Pick<FastifyRequest, 'headers'>): void {
    const waitMs = this.#owners?.take(owner, costOf(request)) ?? 0
    if (waitMs > 0)
      throw new RateLimited(`${owner} sends more than the ${this.#limits.perOwner} requests a second it may`, waitMs)
  }

  /** A request without a token that is known. */
  passStranger(address: string): void {
    const waitMs = this.#strangers.take(address)
    if (waitMs > 0)
      throw new RateLimited(
        `${address} sends more than the ${this.#limits.strangers} requests a second it may without a valid token`,
        waitMs,
      )
  }
}

function costOf({ headers }: Pick<FastifyRequest, 'headers'>): number {
  if (headers['transfer-encoding'] !== undefined) return UNTOLD_BODY_COST
  return 1 + Math.floor(Number(headers['content-length'] ?? 0) / BODY_PIECE_BYTES)
}
