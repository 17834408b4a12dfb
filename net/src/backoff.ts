import { setTimeout as sleep } from 'node:timers/promises'

/** How waiting grows: the first delays are near `baseMs`, none is above `maxMs`. */
export interface Backoff {
  readonly baseMs: number
  readonly maxMs: number
}

/** What `retrying` may be told beyond the delays; without `attempts` it goes on until it succeeds or is aborted. */
export interface RetryOptions extends Backoff {
  readonly attempts?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly isTemporary?: ((error: unknown) => boolean) | undefined
  readonly random?: (() => number) | undefined
  readonly wait?: ((delayMs: number, signal: AbortSignal | undefined) => Promise<unknown>) | undefined
}

/**
 * Spread evenly from half of `baseMs` to min(maxMs, baseMs × 2^attempt), attempt counting from 0: many clients that
 * lost one server come back scattered over the whole range, and none comes back at once.
 */
export function nextDelayMs(of: Backoff & { readonly attempt: number; readonly random: () => number }): number {
  const ceiling = Math.min(of.maxMs, of.baseMs * 2 ** of.attempt)
  const floor = Math.min(of.baseMs, ceiling) / 2
  return floor + of.random() * (ceiling - floor)
}

/** Repeats while the failure is temporary; an abort rejects with the signal's reason, also in the middle of a wait. */
export async function retrying<T>(fn: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { signal, attempts = Number.POSITIVE_INFINITY, random = Math.random, wait = pause } = options
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await fn(attempt)
    } catch (error) {
      signal?.throwIfAborted()
      if (attempt + 1 >= attempts || options.isTemporary?.(error) === false) throw error
    }
    await wait(nextDelayMs({ ...options, attempt, random }), signal)
  }
}

async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(delayMs, undefined, { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
