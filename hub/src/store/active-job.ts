import type { JobRow } from '@stoker/protocol'
import type { ActiveJob } from './port.ts'

const LIVE_ATTEMPT = ['leased', 'starting', 'running', 'stopping'] as const

/** The columns of a job row that make an active job. */
export type ActiveColumns = Pick<
  JobRow,
  | 'seq'
  | 'attemptEpoch'
  | 'attemptState'
  | 'worker'
  | 'gpus'
  | 'placedAt'
  | 'runningAt'
  | 'cancelBy'
  | 'isolation'
  | 'session'
  | 'containerId'
>

/** An active job without a live attempt is a row no commit can have made. */
export function activeJob(row: ActiveColumns): ActiveJob {
  const { seq, attemptEpoch, worker, placedAt, runningAt, cancelBy, isolation, session, containerId } = row
  const attemptState = LIVE_ATTEMPT.find(state => state === row.attemptState)
  if (attemptEpoch === null || attemptState === undefined || worker === null || placedAt === null) {
    throw new Error(`job ${seq} is active, but its attempt is ${row.attemptState} on worker ${worker}`)
  }
  const gpus = row.gpus === null ? [] : (JSON.parse(row.gpus) as string[])
  const attempt = { attemptEpoch, attemptState, worker, gpus, placedAt, runningAt, cancelBy }
  return { seq, ...attempt, isolation, session, containerId }
}
