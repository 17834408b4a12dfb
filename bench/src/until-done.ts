import { setTimeout as sleep } from 'node:timers/promises'

/** Near the end; what is measured takes a hundred times as long. */
const LEAST_MS = 5
const MOST_MS = 200
const PATIENCE_MS = 30_000

/** Waits until so many are done. Asks again when half of the rest should be: asking costs processor time of those who work, and so it is rare until the end is near. */
export async function untilDone(what: string, jobs: number, countDone: () => Promise<number>): Promise<void> {
  const startedAt = performance.now()
  for (;;) {
    const done = await countDone()
    if (done >= jobs) return
    const passedMs = performance.now() - startedAt
    if (passedMs > PATIENCE_MS)
      throw new Error(`waited ${PATIENCE_MS / 1000} s for ${jobs} ${what}, ${done} of them are done`)
    await sleep(pauseMs(jobs, done, passedMs))
  }
}

/** Half of the time the rest takes at the pace so far; as long again as has passed while nothing is done. */
export function pauseMs(jobs: number, done: number, passedMs: number): number {
  const restMs = done <= 0 ? 2 * passedMs : (passedMs * (jobs - done)) / done
  return Math.min(MOST_MS, Math.max(LEAST_MS, restMs / 2))
}
