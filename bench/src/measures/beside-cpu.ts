import type { Hub } from '../servers/stoker.ts'
import { submitInBatches } from '../submit-in-batches.ts'
import { waitUntil } from '../wait-until.ts'
import type { Measure } from './ground.ts'

const JOBS = 20_000
const ROUNDS = 5
const SPECS = Array.from({ length: 1000 }, () => ({ type: 'noop' as const }))
/** Two processes that do nothing but take all they are given. */
const BUSY = { command: ['sh', '-c', 'while :; do :; done & while :; do :; done'], resources: { cpus: 0 } }

/** Bulk submits to an idle hub and to one beside a job on two cores, in turns; how much of the idle rate is left. A second hub has the job, so that nothing else differs. */
export const measureBesideCpu: Measure = async stage => {
  const hub = await stage.hub()
  const neighbour = await stage.hub()
  await stage.worker(neighbour, 1)
  await rate(hub)
  const kept: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const idle = await rate(hub)
    const busy = await beside(neighbour, () => rate(hub))
    kept.push((100 * busy) / idle)
  }
  return { bulkBesideCpu: { ours: kept, peers: {} } }
}

async function rate({ client }: Hub): Promise<number> {
  const startedAt = performance.now()
  await submitInBatches(JOBS, count => client.submitMany(SPECS.slice(0, count)))
  return (JOBS * 1000) / (performance.now() - startedAt)
}

async function beside<T>({ client }: Hub, work: () => Promise<T>): Promise<T> {
  const { id } = await client.submit(BUSY)
  await waitUntil('the busy job to run', async () => (await client.job(id)).state === 'active')
  try {
    return await work()
  } finally {
    await client.cancel(id)
    await waitUntil('the busy job to end', async () => (await client.job(id)).state === 'canceled')
  }
}
