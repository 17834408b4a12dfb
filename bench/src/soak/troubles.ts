import { setTimeout as sleep } from 'node:timers/promises'
import type { MortalWorker } from '../servers/mortal-worker.ts'
import type { Relay } from '../servers/relay.ts'

/** Shorter than a lease and longer than one, in turns: work goes on in the first case and is done elsewhere in the second. */
const AWAY_MS = [3_000, 18_000]
const WELL_MS = 20_000

/** Kills a worker and brings it back, again and again until the signal; answers how often. */
export function killAgainAndAgain(worker: MortalWorker, signal: AbortSignal): Promise<number> {
  return again(signal, async awayMs => {
    await worker.kill()
    await sleep(awayMs)
    await worker.comeBack()
  })
}

/** Cuts the way between a worker and its hub; answers how often. */
export function cutAgainAndAgain(relay: Relay, signal: AbortSignal): Promise<number> {
  return again(signal, async awayMs => {
    relay.cut()
    await sleep(awayMs)
    relay.mend()
  })
}

async function again(signal: AbortSignal, trouble: (awayMs: number) => Promise<void>): Promise<number> {
  for (let times = 0; ; times += 1) {
    await sleep(WELL_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return times
    await trouble(AWAY_MS[times % AWAY_MS.length] ?? 0)
  }
}
