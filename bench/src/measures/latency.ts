import type { Client } from '@stoker/client'
import type { Found } from '../goals/goals.ts'
import { rateOf } from '../in-flight.ts'
import type { BullPeer } from '../peers/bullmq.ts'
import { quantile } from '../statistics.ts'
import { waitUntil } from '../wait-until.ts'
import type { Measure } from './ground.ts'
import { ourStarts, submitInTurns, waitsOf } from './start-waits.ts'

const SAMPLES = 160
const ROUNDS = 5
/** Submits before the first that counts, some at once to save time: a server runs for weeks, its code is compiled. */
const WARM_UP = 10_000
const AT_ONCE = 4

/** From the submit on an idle machine to the moment the worker notes that the job starts; each sample of one house is followed by one of the other, so that both meet the same machine. */
export const measureLatency: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, 8)
  const bull = stage.bull('latency')
  await stage.keep(bull?.startWorker(8, 'stamp'))
  await rateOf(WARM_UP, AT_ONCE, () => hub.client.submit({ type: 'noop' }))
  if (bull !== null) await rateOf(WARM_UP, AT_ONCE, () => bull.submit())
  const ours: number[][] = []
  const theirs: number[][] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [own = new Map(), other = new Map()] = await submitInTurns(SAMPLES, submitsOf(hub.client, bull))
    ours.push(waitsOf(own, await ourStarts(hub.client, SAMPLES)))
    if (bull !== null) theirs.push(waitsOf(other, await bullStarts(bull)))
  }
  const found = (q: number): Found => ({
    ours: roundsOf(ours, q),
    peers: { BullMQ: peerOf(bull, roundsOf(theirs, q)) },
  })
  return { startP50: found(0.5), startP99: found(0.99) }
}

/** The first round is for warming up. */
function roundsOf(rounds: readonly (readonly number[])[], q: number): readonly number[] {
  return rounds.slice(1).map(waits => quantile(waits, q))
}

function peerOf(bull: BullPeer | null, rounds: readonly number[]) {
  return bull === null ? { notMeasured: 'redis-server is not installed' } : rounds
}

function submitsOf(client: Client, bull: BullPeer | null): (() => Promise<string>)[] {
  const ours = async () => (await client.submit({ type: 'noop' })).id
  return bull === null ? [ours] : [ours, async () => (await bull.queue.add('noop', {})).id ?? '']
}

async function bullStarts({ queue }: BullPeer): Promise<ReadonlyMap<string, number>> {
  await waitUntil('the last job of BullMQ', async () => (await queue.getJobCountByTypes('waiting', 'active')) === 0)
  const jobs = await queue.getJobs(['completed'], 0, SAMPLES - 1)
  return new Map(jobs.map(job => [job.id ?? '', Number(job.returnvalue)]))
}
