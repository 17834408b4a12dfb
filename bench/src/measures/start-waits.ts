import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@stoker/client'
import { waitUntil } from '../wait-until.ts'
import { fineWallClock } from '../wall-clock.ts'

/** All houses note a start in whole milliseconds; on average half of one had passed already. */
const HALF_MS = 0.5
/** Long enough for the last job to be over and everybody idle again; the fraction spreads the samples over the millisecond. */
const PAUSE_MS = 7.3

/** Submits one job after the other, with a pause; answers when each was on its way. */
export async function submitSpaced(
  samples: number,
  submit: () => Promise<string>,
): Promise<ReadonlyMap<string, number>> {
  const [submittedAt = new Map()] = await submitInTurns(samples, [submit])
  return submittedAt
}

/** The same for several houses, one job of each in turns. */
export async function submitInTurns(
  samples: number,
  houses: readonly (() => Promise<string>)[],
): Promise<readonly ReadonlyMap<string, number>[]> {
  const now = fineWallClock()
  const submittedAt = houses.map(() => new Map<string, number>())
  for (let i = 0; i < samples; i += 1)
    for (const [house, submit] of houses.entries()) {
      const at = now()
      submittedAt[house]?.set(await submit(), at)
      await sleep(PAUSE_MS + Math.random())
    }
  return submittedAt
}

/** Milliseconds from submit to start; a job whose start nobody knows is an error. */
export function waitsOf(submittedAt: ReadonlyMap<string, number>, startedAt: ReadonlyMap<string, number>): number[] {
  return [...submittedAt].map(([id, at]) => {
    const started = startedAt.get(id) ?? Number.NaN
    if (Number.isNaN(started)) throw new Error(`job ${id} was submitted, no start of it is known`)
    return started + HALF_MS - at
  })
}

export async function ourWaits(client: Client, samples: number): Promise<number[]> {
  const submittedAt = await submitSpaced(samples, async () => (await client.submit({ type: 'noop' })).id)
  return waitsOf(submittedAt, await ourStarts(client, samples))
}

/** When the last so many jobs started, by id. */
export async function ourStarts(client: Client, samples: number): Promise<ReadonlyMap<string, number>> {
  await waitUntil('the last job of Stoker', async () => {
    const { queued, active } = await client.counts()
    return queued + active === 0
  })
  const { jobs } = await client.jobs({ limit: samples })
  return new Map(jobs.map(({ id, startedAt }) => [id, Date.parse(startedAt ?? '')]))
}
