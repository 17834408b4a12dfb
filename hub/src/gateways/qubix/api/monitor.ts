import type { JobRow } from '@stoker/protocol'
import type { FastifyInstance } from 'fastify'
import { LogsQuery, MetricsQuery } from './bodies.ts'
import { callerOf, LOOKERS } from './caller.ts'
import type { ConsumerContext } from './context.ts'
import { findJob } from './find-job.ts'
import { timeRemaining } from './formulas/time-remaining.ts'
import { progressOf, startOf, viewJobDetails } from './job-views.ts'
import { lastLogs, logsBehind } from './log-lines.ts'
import { metricsOf } from './metrics-views.ts'
import { readAs } from './read-body.ts'

const SHOWN_LOGS = 100
const SHOWN_SECONDS = 60

interface ById {
  Params: { id: string }
}

/** How a job is doing: figures, lines and what is left. */
export function addMonitorRoutes(scope: FastifyInstance, context: ConsumerContext): void {
  scope.get<ById>('/api/jobs/:id/monitor', async request => {
    const row = await findJob(context, await callerOf(context, request, LOOKERS), request.params.id)
    const job = await viewJobDetails(context, row)
    return {
      success: true,
      job,
      progress: job.progress,
      currentOperation: job.currentOperation ?? null,
      metrics: await metricsOf(context, row, SHOWN_SECONDS),
      logs: await lastLogs(context, row, { limit: SHOWN_LOGS }),
      ...(await standingOf(context, row)),
    }
  })

  scope.get<ById>('/api/jobs/:id/metrics', async request => {
    const row = await findJob(context, await callerOf(context, request, LOOKERS), request.params.id)
    const { timeRange } = readAs(MetricsQuery, request.query)
    return { success: true, timeRange, metrics: await metricsOf(context, row, timeRange) }
  })

  scope.get<ById>('/api/jobs/:id/logs', async request => {
    const row = await findJob(context, await callerOf(context, request, LOOKERS), request.params.id)
    const { offset, ...wanted } = readAs(LogsQuery, request.query)
    if (offset === undefined) return { success: true, logs: await lastLogs(context, row, wanted) }
    return { success: true, offset, ...(await logsBehind(context, row, offset, wanted)) }
  })
}

/** How long is left; what has been paid is nothing, as this hub takes no money. */
export async function standingOf(
  { engine, board, now }: ConsumerContext,
  row: JobRow,
): Promise<{ timeRemaining: number | null; costSoFar: 0 }> {
  const startedAt = startOf(row)
  if (row.state !== 'active' || startedAt === null) return { timeRemaining: null, costSoFar: 0 }
  const isGuessed = row.type === 'custom_script' && (await engine.read(({ workers }) => isForeign(workers, row)))
  const percent = isGuessed ? null : (progressOf(board, row)?.percent ?? null)
  return { timeRemaining: timeRemaining((now() - startedAt) / 1000, percent), costSoFar: 0 }
}

/** Old workers tell for a script how long it has run, not how far it is. */
function isForeign(
  workers: ReadonlyMap<string, { readonly facts: { readonly dialect?: unknown } }>,
  { worker }: JobRow,
): boolean {
  return workers.get(worker ?? '')?.facts.dialect !== undefined
}
