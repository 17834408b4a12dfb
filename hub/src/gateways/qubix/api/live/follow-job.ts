import type { JobRow } from '@stoker/protocol'
import { BEGINNING, fenceOf, followJob as follow, isOver } from '../../../../serving/follow-job.ts'
import type { JobWatch } from '../../../../serving/job-watch.ts'
import type { ConsumerContext } from '../context.ts'
import { viewJobDetails } from '../job-views.ts'
import { LogLines } from '../log-lines.ts'
import { metricsOf } from '../metrics-views.ts'
import { standingOf } from '../monitor.ts'
import type { ServerMessageType } from './messages.ts'

const RECENT_SECONDS = 60

export interface JobMessage {
  readonly type: ServerMessageType
  readonly data: object
}

/** A job from the present on: its progress, its new lines, its end. Pulled, so a slow viewer holds one message. */
export async function* jobMessages(
  context: ConsumerContext,
  watch: JobWatch,
  known: JobRow,
  signal: AbortSignal,
): AsyncGenerator<JobMessage, void> {
  const ports = { ...context, watch }
  let lines = new LogLines()
  for await (const news of follow(ports, known, await present(context, known), signal)) {
    if (news.kind === 'job' || news.kind === 'progress') yield await progressMessage(context, news.row)
    else if (news.kind === 'output') {
      const logs = lines.push(news.pieces)
      if (logs.length > 0) yield { type: 'JOB_LOGS', data: { jobId: known.id, logs } }
    } else if (news.kind === 'over') {
      const logs = lines.end()
      if (logs.length > 0) yield { type: 'JOB_LOGS', data: { jobId: known.id, logs } }
      lines = new LogLines()
    } else if (news.kind === 'end') yield await endMessage(context, news.row)
  }
}

/** Behind all that was said so far. */
async function present({ queries, streams }: ConsumerContext, row: JobRow) {
  if (row.attempts === 0 || isOver(row, row.attempts)) return { attempt: row.attempts + 1, offsets: BEGINNING }
  return { attempt: row.attempts, offsets: await streams.sizes(await fenceOf(queries, row, row.attempts)) }
}

async function progressMessage(context: ConsumerContext, row: JobRow): Promise<JobMessage> {
  const { id, status, progress, currentOperation, providerId } = await viewJobDetails(context, row)
  const { latest } = await metricsOf(context, row, RECENT_SECONDS)
  const data = { jobId: id, status, progress, currentOperation: currentOperation ?? null, providerId, metrics: latest }
  return { type: 'JOB_PROGRESS', data: { ...data, ...(await standingOf(context, row)) } }
}

async function endMessage(context: ConsumerContext, row: JobRow): Promise<JobMessage> {
  const { id, status, result, error, artifacts, completedAt, actualDuration } = await viewJobDetails(context, row)
  return { type: 'JOB_COMPLETED', data: { jobId: id, status, result, error, artifacts, completedAt, actualDuration } }
}
