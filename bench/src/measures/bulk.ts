import { race } from '../rounds.ts'
import { batchRate } from '../submit-in-batches.ts'
import { ifThere, type Measure } from './ground.ts'

const JOBS = 20_000
const SPECS = Array.from({ length: 1000 }, () => ({ type: 'noop' as const }))

/** Durable submits by the thousand, the same two batches on their way for everyone. */
export const measureBulk: Measure = async stage => {
  const hub = await stage.hub()
  const bull = stage.bull('bulk')
  const graphile = await stage.graphile()
  const figures = await race(
    [
      { name: 'ours', run: () => batchRate(JOBS, count => hub.client.submitMany(SPECS.slice(0, count))) },
      ...ifThere(graphile, 'graphile-worker', peer => batchRate(JOBS, count => peer.submitMany(count))),
      ...ifThere(bull, 'BullMQ', peer => batchRate(JOBS, count => peer.submitMany(count))),
    ],
    { rounds: 11, budgetMs: 8_000, warmUpMs: 3_000 },
  )
  await graphile?.clear()
  return {
    submitBulk: {
      ours: figures.get('ours') ?? [],
      peers: {
        'graphile-worker': stage.roundsOf('graphile-worker', figures.get('graphile-worker')),
        BullMQ: stage.roundsOf('BullMQ', figures.get('BullMQ')),
      },
    },
  }
}
