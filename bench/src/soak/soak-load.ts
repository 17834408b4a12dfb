import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@stoker/client'
import { beatOf, FLOOD_JOB, LONG_JOB } from './soak-jobs.ts'

const BEAT_MS = 400
const FLOOD_EVERY_BEATS = 15
const CANCEL_EVERY_BEATS = 3
const CANCEL_AFTER_MS = 1500
/** What the workers cannot do in time waits; more is not added meanwhile, so that the load is the same all the time. */
const MOST_WAITING = 400

export interface LoadOptions {
  readonly client: Client
  readonly hasSandbox: boolean
  readonly signal: AbortSignal
}

/** Mixed jobs in an even stream until the signal; answers how many were accepted. */
export async function applyLoad({ client, hasSandbox, signal }: LoadOptions): Promise<number> {
  const beat = beatOf(hasSandbox)
  const asides = new Set<Promise<unknown>>()
  let accepted = 0
  for (let beats = 0; !signal.aborted; beats += 1) {
    await sleep(BEAT_MS)
    const { queued, waiting } = await client.counts()
    if (queued + waiting > MOST_WAITING) continue
    accepted += (await client.submitMany(beat)).length
    const aside = asideOf(client, beats)
    if (aside === null) continue
    accepted += 1
    const settled = aside.finally(() => asides.delete(settled))
    asides.add(settled)
  }
  await Promise.all(asides)
  return accepted
}

function asideOf(client: Client, beats: number): Promise<void> | null {
  if (beats % FLOOD_EVERY_BEATS === 0) return watchFlood(client)
  return beats % CANCEL_EVERY_BEATS === 0 ? cancelLong(client) : null
}

/** Somebody looks at it as it runs. */
async function watchFlood(client: Client): Promise<void> {
  const { id } = await client.submit(FLOOD_JOB)
  for await (const _ of client.events(id)) {
    // only its end matters
  }
}

async function cancelLong(client: Client): Promise<void> {
  const { id } = await client.submit(LONG_JOB)
  await sleep(CANCEL_AFTER_MS)
  await client.cancel(id)
}
