import { type AttemptReport, type EndedReport, type Report, sameFence } from '@stoker/protocol'
import type { Core } from '../../hub/src/engine/core.ts'
import type { WorkerState } from '../../hub/src/engine/state.ts'
import { packed } from '../../hub/src/scheduler/packed.ts'
import type { Policy } from '../../hub/src/scheduler/policy.ts'
import type { SpoolBatch } from '../../worker/src/session/spool.ts'

/** Bugs on purpose, made around the real parts and never inside them: a checker that does not find them is none. */
export const PLANTS = [
  'fence-off',
  'publish-before-append',
  'double-placement',
  'ack-before-sync',
  'resend-renumbered',
  'met-early',
] as const
export type Plant = (typeof PLANTS)[number]

/** Believes the end of any attempt, whoever's turn it is. */
export function ignoreFence(core: Core, report: Report): void {
  for (const told of report.reports) {
    const active = core.state.active.get(told.fence.job)
    if (!isEnd(told) || active === undefined || sameFence(active.claim, told.fence)) continue
    const { kind: _, fence: __, artifacts: ___, ...end } = told
    const { job, epoch, attempt } = active.claim
    const next = end.outcome === 'completed' ? 'succeeded' : 'failed'
    const { failures, lost } = active
    core.record({ c: 'attemptEnded', ...end, job, epoch, attempt, next, dueAt: null, failures, lost, reason: null })
  }
}

/** Lets a job go before the one it waits for has ended. */
export function meetEarly(core: Core): void {
  const { edges, settling } = core.state
  for (const waiting of edges.jobs()) {
    const edge = [...edges.of(waiting)].find(({ dependency }) => !settling.has(dependency))
    if (edge !== undefined) core.record({ c: 'met', job: edge.job, dependency: edge.dependency, at: 0 })
    return
  }
}

/** Forgets what is taken: devices and amounts are given out a second time. */
export const forgetful: Policy = {
  name: 'packed',
  plan: (view, now) =>
    packed.plan({ ...view, devices: new Map(), workers: new Map([...view.workers].map(withAllFree)) }, now),
}

/** Sends everything unacknowledged again under the number of the first of it. */
export function renumber(batch: SpoolBatch, unacked: readonly SpoolBatch[]): SpoolBatch {
  if (unacked[0]?.n !== batch.n) return { n: batch.n, reports: [], chunks: [] }
  return {
    n: batch.n,
    reports: unacked.flatMap(each => each.reports),
    chunks: unacked.flatMap(each => each.chunks),
  }
}

function isEnd(report: AttemptReport): report is EndedReport {
  return report.kind === 'ended'
}

function withAllFree([id, worker]: readonly [string, WorkerState]): [string, WorkerState] {
  const { cpusMilli, memoryMb, maxJobs } = worker.facts
  return [id, { ...worker, cpusMilliFree: cpusMilli, memoryMbFree: memoryMb, slotsFree: maxJobs }]
}
