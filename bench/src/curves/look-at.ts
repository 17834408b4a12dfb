import { setTimeout as sleep } from 'node:timers/promises'
import { backlogSpec } from '../backlog.ts'
import { histogramOf, quantileBetween } from '../hub-figures.ts'
import { PlainHttp } from '../plain-http.ts'
import { memoryMbOf } from '../processes/memory-of.ts'
import type { Hub } from '../servers/stoker.ts'
import { quantile } from '../statistics.ts'
import { waitUntil } from '../wait-until.ts'
import { fineWallClock } from '../wall-clock.ts'

/** What a hub of some size costs; times in ms are medians. */
export interface Point {
  readonly x: number
  readonly submitMs: number
  readonly startMs: number
  readonly planMs: number
  readonly memoryMb: number
  readonly restartS: number
}

const SUBMITS = 200
const STARTS = 60
/** A start is noted in whole milliseconds; on average half of one had passed already. */
const HALF_MS = 0.5
const PAUSE_MS = 7.3

/** Jobs for machines that are not there: they wait, and are in nobody's way. */
export const ELSEWHERE = { placement: { tags: { require: ['elsewhere'] } } }

/** Looks at a hub as it is now, then kills it and waits until it and all its workers are back. */
export async function lookAt(hub: Hub, x: number, workers: number): Promise<Point> {
  const submitMs = await submitTime(hub)
  const before = await histogramOf(hub, 'stoker_plan_seconds')
  const startMs = await startTime(hub)
  const planMs = 1000 * quantileBetween(before, await histogramOf(hub, 'stoker_plan_seconds'), 0.5)
  const memoryMb = await memoryMbOf(hub.pid())
  const { restartedAt } = await hub.killAndRestart()
  await allConnected(hub, workers)
  return { x, submitMs, startMs, planMs, memoryMb, restartS: (performance.now() - restartedAt) / 1000 }
}

export function allConnected(hub: Hub, workers: number): Promise<void> {
  return waitUntil(
    `${workers} connected workers`,
    async () => (await hub.client.health()).workers.connected === workers,
    { everyMs: 20, withinMs: 60_000 },
  )
}

async function submitTime(hub: Hub): Promise<number> {
  const http = new PlainHttp(hub.url, hub.token)
  const times: number[] = []
  for (let i = 0; i < SUBMITS; i += 1) {
    const startedAt = performance.now()
    await http.submit(backlogSpec(i, ELSEWHERE))
    times.push(performance.now() - startedAt)
  }
  http.close()
  return quantile(times, 0.5)
}

/** From the submit to the moment an idle worker notes that the job starts. */
async function startTime({ client }: Hub): Promise<number> {
  const now = fineWallClock()
  const times: number[] = []
  for (let i = 0; i < STARTS; i += 1) {
    const at = now()
    const { id } = await client.submit({ type: 'noop' })
    let startedAt: string | null = null
    await waitUntil('the start of a job', async () => {
      startedAt = (await client.job(id)).startedAt
      return startedAt !== null
    })
    times.push(Date.parse(startedAt ?? '') + HALF_MS - at)
    await sleep(PAUSE_MS + Math.random())
  }
  return quantile(times, 0.5)
}
