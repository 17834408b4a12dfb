import { setTimeout as sleep } from 'node:timers/promises'
import { rateOf } from '../in-flight.ts'
import { OldWorkers } from '../old-workers.ts'
import { cpuMsOf, cpuPercentOf } from '../processes/cpu-of.ts'
import type { Hub } from '../servers/stoker.ts'
import type { Measure } from './ground.ts'

const WORKERS = 1000
const BUSY = 200
const CALLS = 4000
const AT_ONCE = 16
const ROUNDS = 5
const SETTLE_MS = 5_000
const POLLING_MS = 15_000
/** Jobs that none of these workers can run, of as many shapes: each poll is a look at all of them. */
const SHAPES = 20
const SUCH = 50

/** What old workers cost the hub, by the processor time it takes for their calls; each call has a connection of its own. */
export const measureQubix: Measure = async stage => {
  const hub = await stage.hub()
  const { secret } = await hub.client.createToken({ role: 'worker' })
  const workers = new OldWorkers(hub.url, secret, WORKERS)
  await workers.register()
  const heartbeats = await perCore(hub, i => workers.heartbeat(i))
  const polls = await perCore(hub, i => workers.poll(i))
  const polling = await whilePolling(hub, workers)
  const backlog = Array.from({ length: SHAPES * SUCH }, (_, i) => ({
    command: 'true',
    resources: { cpus: 1 + (i % SHAPES) },
  }))
  await hub.client.submitMany(backlog)
  const pollingBacklog = await whilePolling(hub, workers)
  const progress = await progressPerCore(hub, workers)
  const found = (ours: readonly number[]) => ({ ours, peers: {} })
  return {
    qubixHeartbeats: found(heartbeats),
    qubixPolls: found(polls),
    qubixProgress: found(progress),
    qubixPolling: found(polling),
    qubixPollingBacklog: found(pollingBacklog),
  }
}

async function progressPerCore(hub: Hub, workers: OldWorkers): Promise<readonly number[]> {
  const spec = { type: 'custom_script' as const, priority: 1, input: { script: 'print(1)' } }
  await hub.client.submitMany(Array.from({ length: BUSY }, () => spec))
  const jobs = await Promise.all(Array.from({ length: BUSY }, (_, i) => workers.poll(i)))
  return perCore(hub, i => {
    const job = jobs[i % BUSY]
    if (job == null) throw new Error(`worker ${i % BUSY} should have a job, it has none`)
    return workers.progress(i % BUSY, job, 1 + (i % 98))
  })
}

/** Calls for each second of processor time. */
async function perCore(hub: Hub, call: (i: number) => Promise<unknown>): Promise<readonly number[]> {
  const figures: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = await cpuMsOf(hub.pid())
    await rateOf(CALLS, AT_ONCE, call)
    figures.push((CALLS * 1000) / ((await cpuMsOf(hub.pid())) - before))
  }
  return figures.slice(1)
}

async function whilePolling(hub: Hub, workers: OldWorkers): Promise<readonly number[]> {
  const lives = workers.live()
  try {
    await sleep(SETTLE_MS)
    const figures: number[] = []
    for (let round = 0; round < 3; round += 1) figures.push(await cpuPercentOf(hub.pid(), POLLING_MS))
    return figures
  } finally {
    await lives.stop()
  }
}
