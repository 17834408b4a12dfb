import type { JobSpecInput } from '@stoker/protocol'
import { rateOfJobs } from '../jobs-done.ts'
import { BeanstalkPeer } from '../peers/beanstalkd.ts'
import { CeleryPeer } from '../peers/celery.ts'
import { PgBossPeer } from '../peers/pg-boss.ts'
import { SlurmPeer } from '../peers/slurm.ts'
import { TaskSpooler } from '../peers/task-spooler.ts'
import { opened, raceBeside, turn } from './beside.ts'
import type { Measure } from './ground.ts'

const AT_ONCE = 8
const JOBS = { ours: 400, workers: 400, commands: 200, slurm: 40 }
const TRUE: JobSpecInput = { command: ['/bin/true'], resources: { cpus: 0 }, isolation: 'none' }

/** Real processes: Stoker, task-spooler and Slurm keep their outcome, the others' workers only spawn. */
export const measurePeersProcesses: Measure = async (stage, ground) => {
  const hub = await stage.hub()
  await stage.worker(hub, AT_ONCE)
  const pgBoss = await opened(PgBossPeer.open(stage, ground, 'processes'), peer => peer.startWorker(AT_ONCE, 'spawn'))
  const beanstalkd = await opened(BeanstalkPeer.open(stage, ground), peer => peer.startWorker(AT_ONCE, 'spawn'))
  const celery = await opened(CeleryPeer.open(stage, ground), peer => peer.startWorker(AT_ONCE))
  const spooler = await opened(TaskSpooler.open(stage, ground), peer => peer.startServer(AT_ONCE))
  const slurm = await opened(SlurmPeer.open(stage, ground, { slots: AT_ONCE, node: true }))
  const found = await raceBeside(() => rateOfJobs(hub.client, TRUE, JOBS.ours), {
    'pg-boss': turn(pgBoss, peer => peer.rateOf(JOBS.workers)),
    beanstalkd: turn(beanstalkd, peer => peer.rateOf(JOBS.workers)),
    Celery: turn(celery, peer => peer.rateOf(JOBS.commands, 'spawn')),
    'task-spooler': turn(spooler, peer => peer.rateOf(JOBS.commands)),
    Slurm: turn(slurm, peer => peer.rateOf(JOBS.slurm)),
  })
  return { othersProcesses: found }
}
