import type { Comparison, Goal } from './goal.ts'

const PG_BOSS = 'PostgreSQL, durable'
const BEANSTALKD = 'binlog, synced'
const CELERY = 'its Python client, Redis AOF always'
const TASK_SPOOLER = 'tsp, a process per call, queue in memory'
const SLURM = 'sbatch, a process per call, saved later'

const beside = (peer: NonNullable<Comparison['peer']>, how: string) => ({ peer, how, must: null, aim: null }) as const

const QUEUES = [beside('pg-boss', PG_BOSS), beside('beanstalkd', BEANSTALKD), beside('Celery', CELERY)] as const
const PROGRAM_QUEUES = [beside('task-spooler', TASK_SPOOLER), beside('Slurm', SLURM)] as const
const PROGRAM_STARTS = [...PROGRAM_QUEUES, beside('Slurm srun', 'srun, the caller waits')] as const

/** Queues that are not our measure but that many know: figures to compare with, no goals. */
export const OTHER_PEER_GOALS = {
  othersSubmitOneByOne: {
    title: "submits one by one, each house's own client",
    unit: 'jobs/s',
    better: 'higher',
    against: [...QUEUES, ...PROGRAM_QUEUES],
  },
  othersSubmitInFlight: {
    title: "submits, 50 in flight, each house's own client",
    unit: 'jobs/s',
    better: 'higher',
    against: [...QUEUES, ...PROGRAM_QUEUES],
  },
  othersBulk: {
    title: 'submits in batches of 1,000 beside others',
    unit: 'jobs/s',
    better: 'higher',
    against: [beside('pg-boss', `insert, ${PG_BOSS}`)],
  },
  othersArray: {
    title: 'arrays of 1,000 jobs by one submit each',
    unit: 'jobs/s',
    better: 'higher',
    against: [beside('Slurm', 'sbatch --array, one record until its jobs start, saved later')],
  },
  othersNoop: {
    title: 'no-op jobs end to end beside others',
    unit: 'jobs/s',
    better: 'higher',
    against: QUEUES,
  },
  othersStartP50: {
    title: 'idle submit → start beside others, p50',
    unit: 'ms',
    better: 'lower',
    against: QUEUES,
  },
  othersStartP99: {
    title: 'idle submit → start beside others, p99',
    unit: 'ms',
    better: 'lower',
    against: QUEUES,
  },
  othersProgramP50: {
    title: "idle submit → the program's own first word, p50",
    unit: 'ms',
    better: 'lower',
    against: PROGRAM_STARTS,
  },
  othersProgramP99: {
    title: "idle submit → the program's own first word, p99",
    unit: 'ms',
    better: 'lower',
    against: PROGRAM_STARTS,
  },
  othersProcesses: {
    title: '`/bin/true` as a process, 8 at once, beside others',
    unit: 'jobs/s',
    better: 'higher',
    against: [...QUEUES, ...PROGRAM_QUEUES],
  },
} as const satisfies Record<string, Goal>
