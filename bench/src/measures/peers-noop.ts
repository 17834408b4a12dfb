import { rateOfJobs } from '../jobs-done.ts'
import { BeanstalkPeer } from '../peers/beanstalkd.ts'
import { CeleryPeer } from '../peers/celery.ts'
import { PgBossPeer } from '../peers/pg-boss.ts'
import { opened, raceBeside, turn } from './beside.ts'
import type { Measure } from './ground.ts'

const JOBS = { ours: 10_000, pgBoss: 10_000, beanstalkd: 5_000, celery: 600 }
const MAX_JOBS = 4096
/** Beyond these the peers get no faster. */
const CONNECTIONS = 16
const THREADS = 8

/** Jobs that do nothing, from the first submit to the last durable end; each house has one worker process. */
export const measurePeersNoop: Measure = async (stage, ground) => {
  const hub = await stage.hub()
  await stage.worker(hub, MAX_JOBS)
  const pgBoss = await opened(PgBossPeer.open(stage, ground, 'noops'), peer => peer.startWorker(1, 'noop'))
  const beanstalkd = await opened(BeanstalkPeer.open(stage, ground), peer => peer.startWorker(CONNECTIONS, 'noop'))
  const celery = await opened(CeleryPeer.open(stage, ground), peer => peer.startWorker(THREADS))
  const found = await raceBeside(() => rateOfJobs(hub.client, { type: 'noop' }, JOBS.ours), {
    'pg-boss': turn(pgBoss, peer => peer.rateOf(JOBS.pgBoss)),
    beanstalkd: turn(beanstalkd, peer => peer.rateOf(JOBS.beanstalkd)),
    Celery: turn(celery, peer => peer.rateOf(JOBS.celery, 'stamp')),
  })
  return { othersNoop: found }
}
