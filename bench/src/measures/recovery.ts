import { race } from '../rounds.ts'
import { submitInBatches } from '../submit-in-batches.ts'
import { waitUntil } from '../wait-until.ts'
import type { Measure } from './ground.ts'

const LIVE = 10_000
const RUNNING = 1_000
const LONG = { type: 'noop', input: { runMs: 600_000 } } as const

/** A thousand jobs run and nine thousand wait; from the start of the new hub process until its worker and every job is back. */
export const measureRecovery: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, RUNNING)
  await submitInBatches(LIVE, count => hub.client.submitMany(Array.from({ length: count }, () => LONG)))
  const isBack = async () => {
    const [{ workers }, { active, queued }] = await Promise.all([hub.client.health(), hub.client.counts()])
    if (active + queued !== LIVE)
      throw new Error(`${LIVE} live jobs should be there, the hub counts ${active + queued}`)
    return workers.connected === 1 && active === RUNNING
  }
  await waitUntil('a thousand running jobs', isBack)
  const run = async () => {
    const { restartedAt } = await hub.killAndRestart()
    await waitUntil('the worker to be back', isBack)
    return (performance.now() - restartedAt) / 1000
  }
  const figures = await race([{ name: 'ours', run }], { rounds: 5, budgetMs: 10_000, warmUpMs: 0 })
  return { recovery: { ours: figures.get('ours') ?? [], peers: {} } }
}
