import { rateOfJobs } from '../jobs-done.ts'
import { race } from '../rounds.ts'
import { ifThere, type Measure } from './ground.ts'

const JOBS = 10_000
/** Room for all that can be on its way: the worker's own limit, not a slot, is to be measured. */
const MAX_JOBS = 4096
/** Beyond this the peer gets no faster. */
const BULL_CONCURRENCY = 100

/** Jobs that do nothing, from the first submit to the last durable end; each house has one worker process. */
export const measureNoops: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, MAX_JOBS)
  const bull = stage.bull('noops')
  await stage.keep(bull?.startWorker(BULL_CONCURRENCY, 'stamp'))
  const graphile = await stage.graphile()
  await stage.keep(graphile?.startRunner())
  const figures = await race(
    [
      { name: 'ours', run: () => rateOfJobs(hub.client, { type: 'noop' }, JOBS) },
      ...ifThere(graphile, 'graphile-worker', peer => peer.rateOf(JOBS)),
      ...ifThere(bull, 'BullMQ', peer => peer.rateOf(JOBS)),
    ],
    { rounds: 9, budgetMs: 8_000, warmUpMs: 2_500 },
  )
  return {
    noop: {
      ours: figures.get('ours') ?? [],
      peers: {
        'graphile-worker': stage.roundsOf('graphile-worker', figures.get('graphile-worker')),
        BullMQ: stage.roundsOf('BullMQ', figures.get('BullMQ')),
      },
    },
  }
}
