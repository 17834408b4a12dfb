import type { MortalWorker } from '../servers/mortal-worker.ts'
import type { Hub } from '../servers/stoker.ts'
import { waitUntil } from '../wait-until.ts'
import type { Measure, Stage } from './ground.ts'

const ROUNDS = 3
const LONG = { command: ['sleep', '600'], resources: { cpus: 0 } }

/** One worker of two dies or leaves while it runs a young job: how long until the other one runs it. All settings are those nobody changed. */
export const measureWorkerRecovery: Measure = async stage => {
  const killed: number[] = []
  const left: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    killed.push(await timeUntilElsewhere(stage, worker => worker.kill()))
    left.push(await timeUntilElsewhere(stage, worker => worker.leave()))
  }
  return { workerKilled: { ours: killed, peers: {} }, workerLeft: { ours: left, peers: {} } }
}

async function timeUntilElsewhere(stage: Stage, end: (worker: MortalWorker) => Promise<void>): Promise<number> {
  const hub = await stage.hub()
  const first = await stage.mortalWorker(hub, { maxJobs: 1, name: 'first' })
  const { id } = await hub.client.submit(LONG)
  await runsAt(hub, id, 'first')
  const second = await stage.mortalWorker(hub, { maxJobs: 1, name: 'second' })
  const endedAt = performance.now()
  const ending = end(first)
  await runsAt(hub, id, 'second')
  const seconds = (performance.now() - endedAt) / 1000
  await ending
  await first.stop()
  await second.stop()
  await hub.stop()
  return seconds
}

function runsAt({ client }: Hub, id: string, name: string): Promise<void> {
  return waitUntil(
    `the job to run at the ${name} worker`,
    async () => {
      const attempt = (await client.job(id)).history.at(-1)
      return attempt?.worker.name === name && attempt.state === 'running'
    },
    { everyMs: 20, withinMs: 60_000 },
  )
}
