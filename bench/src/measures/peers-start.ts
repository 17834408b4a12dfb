import { BeanstalkPeer } from '../peers/beanstalkd.ts'
import { CeleryPeer } from '../peers/celery.ts'
import { PgBossPeer } from '../peers/pg-boss.ts'
import { opened, raceWaits, turn } from './beside.ts'
import type { Measure } from './ground.ts'
import { ourWaits, submitSpaced, waitsOf } from './start-waits.ts'

const SAMPLES = 100
const AT_ONCE = 8

/** From the submit on an idle machine to the moment the worker process has the job. */
export const measurePeersStart: Measure = async (stage, ground) => {
  const hub = await stage.hub()
  await stage.worker(hub, AT_ONCE)
  const pgBoss = await opened(PgBossPeer.open(stage, ground, 'starts'), peer => peer.startWorker(AT_ONCE, 'stamp'))
  const beanstalkd = await opened(BeanstalkPeer.open(stage, ground), peer => peer.startWorker(AT_ONCE, 'stamp'))
  const celery = await opened(CeleryPeer.open(stage, ground), peer => peer.startWorker(AT_ONCE))
  const { p50, p99 } = await raceWaits(() => ourWaits(hub.client, SAMPLES), {
    'pg-boss': turn(pgBoss, async peer => {
      const submittedAt = await submitSpaced(SAMPLES, () => peer.submit())
      return waitsOf(submittedAt, await peer.startedAt([...submittedAt.keys()]))
    }),
    beanstalkd: turn(beanstalkd, async peer => {
      const submittedAt = await submitSpaced(SAMPLES, () => peer.submit())
      return waitsOf(submittedAt, await peer.startedAt(SAMPLES))
    }),
    Celery: turn(celery, peer => peer.waits(SAMPLES)),
  })
  return { othersStartP50: p50, othersStartP99: p99 }
}
