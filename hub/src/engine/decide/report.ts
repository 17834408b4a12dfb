import {
  type AttemptReport,
  type ChangeOf,
  type Checkpoint,
  type Fence,
  fenceKey,
  Refused,
  sameFence,
} from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import { canMoveAttempt } from '../life-cycle.ts'
import { countAhead, learnTask, UNKNOWN_MS } from '../look-ahead.ts'
import { isInPlace } from '../sessions.ts'
import type { ActiveJob, Now, State, WorkerState } from '../state.ts'
import { artifactRows, type SettledEnd, settleArtifacts } from './artifacts.ts'
import type { Emit } from './emit.ts'
import { knownWorker } from './known-worker.ts'
import { MAX_LOST, tooOften } from './loss.ts'

type ReportCommand = Extract<Command, { kind: 'report' }>
/** A worker that declined, or that itself lost a program because it leaves or its keeper died, gets no other job of the bucket for this long. */
const COOL_DOWN_MS = 10_000
/** A session that could not take a task is about to end, or was asked too early. */
const SESSION_REST_MS = 1_000
const NOTHING: ReadonlySet<string> = new Set()

/** Batches are numbered per worker: one seen before changes nothing, one too early is refused; each report stands or falls by its fence. */
export function decideReport(
  state: State,
  command: ReportCommand,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['report'] {
  const worker = knownWorker(state, command.worker)
  const { n } = command
  if (n !== null && n <= worker.batch) return { ackedBatch: worker.batch, stale: [] }
  if (n !== null && n !== worker.batch + 1) {
    throw new Refused('request.invalid', `batch ${n} came, batch ${worker.batch + 1} is next`)
  }
  const stale: Fence[] = []
  for (const report of command.reports)
    if (!takeReport(state, worker, report, command.missing ?? NOTHING, now, emit)) stale.push(report.fence)
  if (command.rows.length > 0) emit.rows(command.rows)
  if (n !== null) emit.change({ c: 'batch', worker: worker.id, n })
  return { ackedBatch: n ?? worker.batch, stale }
}

/** True if the report was about the current attempt of its job. */
function takeReport(
  state: State,
  worker: WorkerState,
  report: AttemptReport,
  missing: ReadonlySet<string>,
  now: Now,
  emit: Emit,
): boolean {
  const { fence } = report
  const isEnd = report.kind === 'ended' || report.kind === 'declined'
  if (!isCurrent(state, worker, fence) && !resumeIfLost(state, worker, fence, now, emit, isEnd)) {
    if (isEnd) release(worker, fence, now, emit)
    return isEnd
  }
  const active = state.active.get(fence.job)
  if (active === undefined) throw new Error(`attempt ${fenceKey(fence)} is current but its job is not active`)
  active.newsAt = now.lease
  if (report.kind === 'ended') {
    if (report.outcome === 'lost') restFrom(state, worker, active, now)
    learnFrom(state, active, report)
    endAttempt(state, active, settleArtifacts(report, missing), now, emit)
  } else if (report.kind === 'declined') decline(state, worker, active, report.reason, now, emit)
  else if (report.kind === 'checkpoint') keepCheckpoint(active, report.checkpoint, missing, now, emit)
  else if (canMoveAttempt(active.state, report.kind) || isLateStart(active, report)) {
    const at = plausible(report.at, active, now)
    if (report.kind === 'starting') emit.change({ c: 'starting', job: fence.job, at })
    else emit.change({ c: 'running', job: fence.job, at, isolation: report.isolation, ...insideOf(report) })
  }
  return true
}

function insideOf({ containerId }: Extract<AttemptReport, { kind: 'running' }>): { readonly containerId?: string } {
  return containerId === undefined ? {} : { containerId }
}

/** One whose content is not all there is passed over: the one before stays. */
function keepCheckpoint(
  active: ActiveJob,
  checkpoint: Checkpoint,
  missing: ReadonlySet<string>,
  now: Now,
  emit: Emit,
): void {
  if (checkpoint.files.some(({ sha256 }) => missing.has(sha256))) return
  emit.change({ c: 'checkpointed', ...fenceOf(active), at: now.wall, checkpoint })
}

/** Its worker held it as running before it could say how. */
function isLateStart({ state, isolation }: ActiveJob, { kind }: AttemptReport): boolean {
  return kind === 'running' && state === 'running' && isolation === null
}

function isCurrent(state: State, worker: WorkerState, fence: Fence): boolean {
  const active = state.active.get(fence.job)
  return active !== undefined && active.claim.worker === worker.id && sameFence(active.claim, fence)
}

/** A lost attempt goes on if its job still waits for another placement; a task only together with its session, unless it has ended. */
export function resumeIfLost(
  state: State,
  worker: WorkerState,
  fence: Fence,
  now: Now,
  emit: Emit,
  isEnd = false,
): boolean {
  const lost = worker.lost.get(fenceKey(fence))
  if (lost === undefined || state.queued.get(fence.job)?.attempts !== fence.attempt) return false
  const { session } = lost.claim
  if (session !== null && !isEnd && !isInPlace(state, lost.claim) && !resumeIfLost(state, worker, session, now, emit))
    return false
  emit.change({ c: 'resumed', job: fence.job, epoch: fence.epoch, attempt: fence.attempt, at: now.wall })
  return true
}

function release(worker: WorkerState, fence: Fence, now: Now, emit: Emit): void {
  if (worker.lost.has(fenceKey(fence))) {
    emit.change({
      c: 'released',
      job: fence.job,
      epoch: fence.epoch,
      attempt: fence.attempt,
      worker: worker.id,
      at: now.wall,
    })
  }
}

/** A worker rests from such jobs, a session from tasks. */
function restFrom(state: State, worker: WorkerState, { bucket, claim }: ActiveJob, now: Now): void {
  if (claim.session === null) worker.coolDown.set(bucket, now.lease + COOL_DOWN_MS)
  const session = claim.session === null ? undefined : state.sessions.get(claim.session.job)
  if (session !== undefined) session.restsUntil = now.lease + SESSION_REST_MS
}

/** A session that gives back what it was given ahead is only slower than it was. */
function isGivenBack(state: State, { claim }: ActiveJob): boolean {
  const session = claim.session === null ? undefined : state.sessions.get(claim.session.job)
  if (session === undefined || countAhead(session) === 0) return false
  session.taskMs = UNKNOWN_MS
  return true
}

/** By the worker's own clock, whatever that says. */
function learnFrom(state: State, { claim }: ActiveJob, { outcome, startedAt, at }: SettledEnd['end']): void {
  const session = claim.session === null ? undefined : state.sessions.get(claim.session.job)
  if (session !== undefined && outcome === 'completed' && startedAt !== null && isInPlace(state, claim))
    learnTask(session, Math.max(0, at - startedAt))
}

function decline(state: State, worker: WorkerState, active: ActiveJob, reason: string, now: Now, emit: Emit): void {
  if (!isGivenBack(state, active)) restFrom(state, worker, active, now)
  const next = active.cancelBy === null ? ('queued' as const) : ('canceled' as const)
  emit.change({
    c: 'attemptEnded',
    ...fenceOf(active),
    outcome: 'declined',
    at: now.wall,
    startedAt: null,
    exitCode: null,
    next,
    failures: active.failures,
    lost: active.lost,
    error: reason,
    reason: active.cancelBy ?? undefined,
  })
}

/** Written out, not spread: this runs for every job that ends. */
function endAttempt(state: State, active: ActiveJob, { end, artifacts }: SettledEnd, now: Now, emit: Emit): void {
  const { job, epoch, attempt } = active.claim
  const at = plausible(end.at, active, now)
  const { next, dueAt, failures, lost, reason } = sequel(state, active, end, now)
  const change: ChangeOf<'attemptEnded'> = {
    c: 'attemptEnded',
    job,
    epoch,
    attempt,
    outcome: end.outcome,
    at,
    startedAt: end.startedAt === null ? null : Math.min(at, plausible(end.startedAt, active, now)),
    exitCode: end.exitCode,
    next,
    failures,
    lost,
    signal: end.signal ?? undefined,
    error: end.error ?? undefined,
    note: end.note ?? undefined,
    usage: end.usage ?? undefined,
    result: end.result ?? undefined,
    dueAt: dueAt ?? undefined,
    reason: reason ?? undefined,
  }
  if (artifacts.length === 0) emit.change(change)
  else {
    emit.rows(artifactRows(end.fence, state.buckets.get(active.bucket)?.owner ?? '', artifacts))
    const bytes = artifacts.reduce((sum, { size }) => sum + size, 0)
    emit.change({ ...change, artifacts: { count: artifacts.length, bytes } })
  }
}

/** A worker's clock may be wrong; nothing it did was before its placement or is in the future. */
function plausible(at: number, { placedAt }: ActiveJob, now: Now): number {
  return Math.min(now.wall, Math.max(at, placedAt))
}

interface Sequel {
  readonly next: 'queued' | 'waiting' | 'succeeded' | 'failed' | 'canceled' | 'timed_out'
  readonly dueAt: number | null
  readonly failures: number
  readonly lost: number
  readonly reason: string | null
}

/** What an outcome means for the job: success and cancel are final, a failure may cost a retry, a loss costs nothing until there were too many. */
function sequel(state: State, active: ActiveJob, report: SettledEnd['end'], now: Now): Sequel {
  const { failures, lost, cancelBy } = active
  if (report.outcome === 'completed')
    return { next: 'succeeded', dueAt: null, failures, lost, reason: endOfSession(state, active.seq, report) }
  const stay = { dueAt: null, failures, lost, reason: report.error }
  if (report.outcome === 'canceled') return { ...stay, next: 'canceled', reason: cancelBy ?? report.error }
  if (report.outcome === 'lost') {
    const reason = report.error ?? 'its worker lost it'
    if (cancelBy !== null) return { ...stay, next: 'canceled', reason: cancelBy, lost: lost + 1 }
    if (lost + 1 >= MAX_LOST) return { ...stay, next: 'failed', lost: lost + 1, reason: tooOften(lost + 1, reason) }
    return { ...stay, next: 'queued', lost: lost + 1, reason: null }
  }
  const terms = state.buckets.get(active.bucket)?.terms
  const failed = { ...stay, failures: failures + 1 }
  if (
    terms === undefined ||
    cancelBy !== null ||
    !terms.retryOn.includes(report.outcome) ||
    failures >= terms.retryMax
  ) {
    return { ...failed, next: report.outcome }
  }
  const backoffMs = Math.min(terms.retryMaxMs, terms.retryInitialMs * 2 ** failures)
  return { ...failed, next: 'waiting', dueAt: now.wall + backoffMs, reason: null }
}

/** A session that ends well says why: it was asked to, its worker stops, or its program left by itself. */
function endOfSession(state: State, job: number, { note }: SettledEnd['end']): string | null {
  const session = state.sessions.get(job)
  if (session === undefined) return null
  return session.endsBy ?? (note === 'shutdown' ? note : 'worker_exited')
}

function fenceOf({ claim }: ActiveJob) {
  return { job: claim.job, epoch: claim.epoch, attempt: claim.attempt }
}
