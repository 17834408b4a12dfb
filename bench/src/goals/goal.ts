/** What a measure is compared with, and how far it must and should come; `peer: null` compares with the number itself. */
export interface Goal {
  readonly title: string
  readonly unit: 'jobs/s' | 'requests/s' | 'lives/s' | 'MiB/s' | 'ms' | 's' | 'MB' | '%'
  readonly better: 'higher' | 'lower'
  readonly against: readonly Comparison[]
}

export interface Comparison {
  readonly peer: PeerName | null
  readonly must: number | null
  readonly aim: number | null
  /** How the peer was driven, where the title does not say it. */
  readonly how?: string
}

const PEERS = [
  'BullMQ',
  'graphile-worker',
  'bare spawn',
  'node -e 0',
  'an empty hub',
  'pg-boss',
  'beanstalkd',
  'Celery',
  'task-spooler',
  'Slurm',
  'Slurm srun',
  'node PUT',
  'node PUT, synced',
  'bare SSE',
  'when idle',
  'docker run',
  'docker run, as strict',
] as const
export type PeerName = (typeof PEERS)[number]
