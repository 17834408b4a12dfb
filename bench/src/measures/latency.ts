import { setTimeout as sleep } from 'node:timers/promises'
import type { BullPeer } from '../peers/bullmq.ts'
import { race } from '../rounds.ts'
import type { Hub } from '../servers/stoker.ts'
import { quantile } from '../statistics.ts'
import { waitUntil } from '../wait-until.ts'
import { fineWallClock } from '../wall-clock.ts'
import { ifThere, type Measure } from './ground.ts'

const SAMPLES = 100
/** Both houses note a start in whole milliseconds; on average half of one had passed already. */
const HALF_MS = 0.5
/** Long enough for the last job to be over and everybody idle again; the fraction spreads the samples over the millisecond. */
const PAUSE_MS = 7.3

/** From the submit on an idle machine to the moment the worker notes that the job starts. */
export const measureLatency: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, 8)
  const bull = stage.bull('latency')
  await stage.keep(bull?.startWorker(8, 'stamp'))
  const p99 = new Map<string, number[]>()
  const round = (name: string, sample: () => Promise<number[]>) => async () => {
    const waits = await sample()
    p99.set(name, [...(p99.get(name) ?? []), quantile(waits, 0.99)])
    return quantile(waits, 0.5)
  }
  const p50 = await race(
    [
      { name: 'ours', run: round('ours', () => ourWaits(hub)) },
      ...ifThere(bull, 'BullMQ', peer => round('BullMQ', () => bullWaits(peer))()),
    ],
    { rounds: 5, budgetMs: 15_000 },
  )
  const found = (figures: ReadonlyMap<string, readonly number[]>) => ({
    ours: figures.get('ours') ?? [],
    peers: { BullMQ: stage.roundsOf('BullMQ', figures.get('BullMQ')) },
  })
  return { startP50: found(p50), startP99: found(withoutWarmUp(p99, p50)) }
}

function withoutWarmUp(all: ReadonlyMap<string, readonly number[]>, kept: ReadonlyMap<string, readonly number[]>) {
  return new Map([...all].map(([name, values]) => [name, values.slice(-(kept.get(name)?.length ?? 0))]))
}

async function ourWaits({ client }: Hub): Promise<number[]> {
  const submittedAt = await submitSpaced(async () => (await client.submit({ type: 'noop' })).id)
  await waitUntil('the last job of Stoker', async () => {
    const { queued, active } = await client.counts()
    return queued + active === 0
  })
  const { jobs } = await client.jobs({ limit: SAMPLES })
  return waitsOf(submittedAt, new Map(jobs.map(({ id, startedAt }) => [id, Date.parse(startedAt ?? '')])))
}

async function bullWaits({ queue }: BullPeer): Promise<number[]> {
  const submittedAt = await submitSpaced(async () => (await queue.add('noop', {})).id ?? '')
  await waitUntil('the last job of BullMQ', async () => (await queue.getJobCountByTypes('waiting', 'active')) === 0)
  const jobs = await queue.getJobs(['completed'], 0, SAMPLES - 1)
  return waitsOf(submittedAt, new Map(jobs.map(job => [job.id ?? '', Number(job.returnvalue)])))
}

async function submitSpaced(submit: () => Promise<string>): Promise<ReadonlyMap<string, number>> {
  const now = fineWallClock()
  const submittedAt = new Map<string, number>()
  for (let i = 0; i < SAMPLES; i += 1) {
    const at = now()
    submittedAt.set(await submit(), at)
    await sleep(PAUSE_MS + Math.random())
  }
  return submittedAt
}

function waitsOf(submittedAt: ReadonlyMap<string, number>, startedAt: ReadonlyMap<string, number>): number[] {
  return [...submittedAt].map(([id, at]) => {
    const started = startedAt.get(id) ?? Number.NaN
    if (Number.isNaN(started)) throw new Error(`job ${id} was submitted, no start of it is known`)
    return started + HALF_MS - at
  })
}
