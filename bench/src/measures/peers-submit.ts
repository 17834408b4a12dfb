import { rateOf } from '../in-flight.ts'
import { BeanstalkPeer } from '../peers/beanstalkd.ts'
import { CeleryPeer } from '../peers/celery.ts'
import { PgBossPeer } from '../peers/pg-boss.ts'
import { SlurmPeer } from '../peers/slurm.ts'
import { TaskSpooler } from '../peers/task-spooler.ts'
import { opened, raceBeside, turn } from './beside.ts'
import type { Measure } from './ground.ts'

/** Fewer where each takes a process, so that no house's turn lasts much longer than another's. */
const ONE_BY_ONE = { requests: 300, commands: 30 }
const MANY = { requests: 3_000, python: 600, commands: 100 }
const IN_FLIGHT = 50

/** Single submits to houses without a worker, by the client or command that belongs to each. */
export const measurePeersSubmit: Measure = async (stage, ground) => {
  const { client } = await stage.hub()
  const pgBoss = await opened(PgBossPeer.open(stage, ground, 'submits'))
  const beanstalkd = await opened(BeanstalkPeer.open(stage, ground))
  const celery = await opened(CeleryPeer.open(stage, ground))
  const spooler = await opened(TaskSpooler.open(stage, ground))
  const slurm = await opened(SlurmPeer.open(stage, ground, { slots: 8, node: false }))
  const submit = () => client.submit({ type: 'noop' })
  const oneByOne = await raceBeside(() => rateOf(ONE_BY_ONE.requests, 1, submit), {
    'pg-boss': turn(pgBoss, peer => rateOf(ONE_BY_ONE.requests, 1, () => peer.submit())),
    beanstalkd: turn(beanstalkd, peer => rateOf(ONE_BY_ONE.requests, 1, () => peer.submit())),
    Celery: turn(celery, peer => peer.submitRateOf(ONE_BY_ONE.requests, 1)),
    'task-spooler': turn(spooler, peer => peer.submitRateOf(ONE_BY_ONE.commands, 1)),
    Slurm: turn(slurm, peer => rateOf(ONE_BY_ONE.commands, 1, () => peer.submit('/bin/true'))),
  })
  const inFlight = await raceBeside(() => rateOf(MANY.requests, IN_FLIGHT, submit), {
    'pg-boss': turn(pgBoss, peer => rateOf(MANY.requests, IN_FLIGHT, () => peer.submit())),
    beanstalkd: turn(beanstalkd, peer => rateOf(MANY.requests, IN_FLIGHT, () => peer.submit())),
    Celery: turn(celery, peer => peer.submitRateOf(MANY.python, IN_FLIGHT)),
    'task-spooler': turn(spooler, peer => peer.submitRateOf(MANY.commands, IN_FLIGHT)),
    Slurm: turn(slurm, peer => rateOf(MANY.commands, IN_FLIGHT, () => peer.submit('/bin/true'))),
  })
  return { othersSubmitOneByOne: oneByOne, othersSubmitInFlight: inFlight }
}
