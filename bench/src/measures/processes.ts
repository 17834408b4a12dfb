import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rateOf } from '../in-flight.ts'
import { rateOfJobs } from '../jobs-done.ts'
import { race } from '../rounds.ts'
import { ifThere, type Measure } from './ground.ts'

const AT_ONCE = 8
const JOBS = 400
const SANDBOXED_JOBS = 150
/** What a hub and a worker do for every job is compiled by then, as it is in a house at work. */
const WARM_UP_JOBS = 2_000
/** Takes no CPU of the worker's account, so that eight run at once on any machine, as with the peer. */
const TRUE = { command: ['/bin/true'], resources: { cpus: 0 } }

/** Real processes with workspace, logs and outcome, beside a peer that spawns without keeping anything. */
export const measureProcesses: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, AT_ONCE)
  const bull = stage.bull('processes')
  await stage.keep(bull?.startWorker(AT_ONCE, 'spawn'))
  const figures = await race(
    [
      { name: 'ours', run: () => rateOfJobs(hub.client, { ...TRUE, isolation: 'none' }, JOBS) },
      ...ifThere(bull, 'BullMQ', peer => peer.rateOf(JOBS)),
      {
        name: 'bare spawn',
        run: () => rateOf(JOBS, AT_ONCE, () => once(spawn('/bin/true', { stdio: 'ignore' }), 'exit')),
      },
    ],
    { rounds: 7, budgetMs: 7_000, warmUpMs: 3_000 },
  )
  return {
    processes: {
      ours: figures.get('ours') ?? [],
      peers: {
        BullMQ: stage.roundsOf('BullMQ', figures.get('BullMQ')),
        'bare spawn': figures.get('bare spawn') ?? [],
      },
    },
  }
}

/** The same with a sandbox for each; a worker that cannot make one is not measured. */
export const measureSandbox: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, AT_ONCE)
  const [worker] = await hub.client.workers()
  const abilities = worker === undefined ? null : (await hub.client.worker(worker.id)).abilities
  if (abilities?.sandbox !== true)
    return { sandboxed: { ours: { notMeasured: abilities?.note ?? 'no worker' }, peers: {} } }
  await rateOfJobs(hub.client, { ...TRUE, isolation: 'none' }, WARM_UP_JOBS)
  const run = () => rateOfJobs(hub.client, { ...TRUE, isolation: 'sandbox' }, SANDBOXED_JOBS)
  const figures = await race([{ name: 'ours', run }], { rounds: 5, budgetMs: 8_000, warmUpMs: 1_000 })
  return { sandboxed: { ours: figures.get('ours') ?? [], peers: {} } }
}
