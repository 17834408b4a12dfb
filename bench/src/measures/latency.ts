import { rateOf } from '../in-flight.ts'
import type { BullPeer } from '../peers/bullmq.ts'
import { waitUntil } from '../wait-until.ts'
import { raceWaits } from './beside.ts'
import type { Measure } from './ground.ts'
import { ourWaits, submitSpaced, waitsOf } from './start-waits.ts'

const SAMPLES = 100
/** Submits before the first that counts, some at once to save time: a server runs for weeks, its code is compiled. */
const WARM_UP = 20_000
const AT_ONCE = 4

/** From the submit on an idle machine to the moment the worker notes that the job starts. */
export const measureLatency: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, 8)
  const bull = stage.bull('latency')
  await stage.keep(bull?.startWorker(8, 'stamp'))
  await rateOf(WARM_UP, AT_ONCE, () => hub.client.submit({ type: 'noop' }))
  if (bull !== null) await rateOf(WARM_UP, AT_ONCE, () => bull.submit())
  const { p50, p99 } = await raceWaits(() => ourWaits(hub.client, SAMPLES), {
    BullMQ: bull === null ? { notMeasured: 'redis-server is not installed' } : () => bullWaits(bull),
  })
  return { startP50: p50, startP99: p99 }
}

async function bullWaits({ queue }: BullPeer): Promise<number[]> {
  const submittedAt = await submitSpaced(SAMPLES, async () => (await queue.add('noop', {})).id ?? '')
  await waitUntil('the last job of BullMQ', async () => (await queue.getJobCountByTypes('waiting', 'active')) === 0)
  const jobs = await queue.getJobs(['completed'], 0, SAMPLES - 1)
  return waitsOf(submittedAt, new Map(jobs.map(job => [job.id ?? '', Number(job.returnvalue)])))
}
