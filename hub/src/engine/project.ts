import type { AttemptRow, Change, ChangeOf, RowWrite, RunIsolation, SessionRow, Shape } from '@stoker/protocol'
import { announceEnd } from './announce-end.ts'
import { checkpointRows, withoutCheckpoint } from './checkpoint-rows.ts'
import { groupRow } from './groups.ts'
import { jsonOf } from './json-of.ts'
import { projectOwned } from './owned.ts'
import { projectOwnerRules } from './owner-rules.ts'
import { projectSubmitted, type Submissions } from './project-submitted.ts'
import { projectNoCauses, setJob, WAITING_PROJECTORS } from './project-waiting.ts'
import { type ActiveJob, claimKey, type Json, type LostAttempt, type State } from './state.ts'

type Projectors = { readonly [C in Change['c']]: (change: ChangeOf<C>, state: State, jobs: Submissions) => RowWrite[] }

/** What a change writes. Called before the change is applied, so it may read what is about to be replaced. */
export function project(change: Change, state: State, jobs: Submissions): RowWrite[] {
  return (PROJECTORS[change.c] as (change: Change, state: State, jobs: Submissions) => RowWrite[])(change, state, jobs)
}

const PROJECTORS: Projectors = {
  epoch: ({ epoch }) => [{ op: 'put', table: 'meta', row: { key: 'epoch', value: String(epoch) } }],
  bucket: ({ id, owner, priority, shape, terms, groupId = null }) => [
    {
      op: 'insert',
      table: 'bucket',
      row: { id, owner, priority, shape: JSON.stringify(shape), terms: JSON.stringify(terms), groupId },
    },
  ],
  bucketDropped: ({ id }) => [{ op: 'delete', table: 'bucket', key: { id } }],
  group: change => [{ op: 'insert', table: 'jobGroup', row: groupRow(change) }],
  submitted: projectSubmitted,
  placed: ({ job, epoch, attempt, worker, gpus, at, session }) => [
    setJob(job, {
      state: 'active',
      attempts: attempt,
      attemptEpoch: epoch,
      attemptState: 'leased',
      outcome: null,
      worker,
      gpus: gpus.length === 0 ? null : JSON.stringify(gpus),
      placedAt: at,
      runningAt: null,
      attemptEndedAt: null,
      isolation: null,
      containerId: null,
      exitCode: null,
      signal: null,
      error: null,
      note: null,
      usage: null,
      ...(session === undefined ? NOTHING : { session }),
    }),
  ],
  starting: ({ job }) => [setJob(job, { attemptState: 'starting' })],
  running: ({ job, at, isolation, containerId }, state) => {
    const attemptState = state.active.get(job)?.state === 'stopping' ? 'stopping' : 'running'
    const first = state.active.get(job)?.claim.attempt === 1 ? { startedAt: at } : NOTHING
    const inside = containerId === undefined ? NOTHING : { containerId }
    return [setJob(job, { attemptState, runningAt: at, isolation, ...first, ...inside })]
  },
  stopRequested: ({ job, by, endsSession }) => [
    setJob(job, { attemptState: 'stopping', cancelBy: by }),
    ...(endsSession === true ? [setSession(job, { endsBy: by })] : []),
  ],
  attemptEnded: projectAttemptEnded,
  lost: ({ job, lost, at, reason }, state) => {
    const active = state.active.get(job)
    if (active === undefined) return []
    return [
      setJob(job, { state: 'queued', lost, attemptState: 'ended', outcome: 'lost', attemptEndedAt: at, error: reason }),
      { op: 'put', table: 'attempt', row: attemptRow(active, 1, { outcome: 'lost', endedAt: at, error: reason }) },
    ]
  },
  resumed: (change, state) => {
    const lost = findLost(state, change)
    return [
      setJob(change.job, {
        state: 'active',
        attemptState: lost?.runningAt === null ? 'starting' : 'running',
        outcome: null,
        attemptEndedAt: null,
        error: null,
      }),
      { op: 'delete', table: 'attempt', key: { job: change.job, number: change.attempt } },
    ]
  },
  released: ({ job, attempt }) => [
    { op: 'update', table: 'attempt', key: { job, number: attempt }, set: { claimed: 0 } },
  ],
  ended: ({ job, state: end, reason, at }, state) => [
    setJob(job, { state: end, reason, endedAt: at, dueAt: null }),
    ...projectNoCauses(job, state),
    ...announceEnd(state, job, end, at),
    ...endSession(state, job, at),
  ],
  forgotten: ({ jobs }) =>
    jobs.flatMap((job): RowWrite[] => [
      { op: 'delete', table: 'job', key: { seq: job } },
      ...(['attempt', 'artifact', 'input', 'chunk', 'sealed', 'session'] as const).map(
        table => ({ op: 'delete', table, key: { job } }) as const,
      ),
    ]),
  ...WAITING_PROJECTORS,
  worker: ({ c: _, at, ...facts }, state) => {
    const known = state.workers.get(facts.id)
    const row = {
      ...facts,
      tags: JSON.stringify(facts.tags),
      hardware: JSON.stringify(facts.hardware),
      abilities: JSON.stringify(facts.abilities),
      registeredAt: known?.registeredAt ?? at,
      draining: known?.draining === true ? 1 : 0,
      batch: known?.batch ?? 0,
      dialect: facts.dialect === undefined ? null : JSON.stringify(facts.dialect),
      gatewayNote: textOf(known?.note),
    }
    return [{ op: 'put', table: 'worker', row }]
  },
  workerNoted: ({ id, note }) => [{ op: 'update', table: 'worker', key: { id }, set: { gatewayNote: textOf(note) } }],
  workerDrained: ({ id, on }) => [{ op: 'update', table: 'worker', key: { id }, set: { draining: on ? 1 : 0 } }],
  workerRemoved: ({ id }, state) => [
    { op: 'delete', table: 'worker', key: { id } },
    ...[...(state.workers.get(id)?.lost.values() ?? [])].map(
      ({ claim }): RowWrite => ({
        op: 'update',
        table: 'attempt',
        key: { job: claim.job, number: claim.attempt },
        set: { claimed: 0 },
      }),
    ),
  ],
  deviceQuarantined: ({ uuid, reason, by, at }) => [
    { op: 'put', table: 'device', row: { uuid, reason, quarantinedBy: by, quarantinedAt: at } },
  ],
  deviceReleased: ({ uuid }) => [{ op: 'delete', table: 'device', key: { uuid } }],
  batch: ({ worker, n }) => [{ op: 'update', table: 'worker', key: { id: worker }, set: { batch: n } }],
  token: ({ c: _, at, ...token }) => [{ op: 'insert', table: 'token', row: { ...token, createdAt: at, usedBy: null } }],
  tokenUsed: ({ id, by }) => [{ op: 'update', table: 'token', key: { id }, set: { usedBy: by } }],
  tokenRevoked: ({ id }) => [{ op: 'delete', table: 'token', key: { id } }],
  ...projectOwned,
  ...projectOwnerRules,
  audited: ({ c: _, details, ...entry }) => [
    { op: 'insert', table: 'audit', row: { ...entry, details: JSON.stringify(details), status: null } },
  ],
  checkpointed: ({ job, attempt, checkpoint }, state) =>
    checkpointRows(job, attempt, state.buckets.get(state.active.get(job)?.bucket ?? -1)?.owner ?? '', checkpoint),
  auditEnded: ({ id, status }) => [{ op: 'update', table: 'audit', key: { id }, set: { status } }],
}

function projectAttemptEnded(change: ChangeOf<'attemptEnded'>, state: State): RowWrite[] {
  const active = state.active.get(change.job)
  if (active === undefined) return []
  const isFinal = change.next !== 'queued' && change.next !== 'waiting'
  const runningAt = active.runningAt ?? change.startedAt
  const firstStart =
    change.attempt === 1 && active.runningAt === null && runningAt !== null ? { startedAt: runningAt } : {}
  const executor = state.buckets.get(active.bucket)?.shape.executor
  const job = setJob(change.job, {
    state: change.next,
    attemptState: 'ended',
    outcome: change.outcome,
    runningAt,
    isolation: active.isolation ?? impliedIsolation(executor),
    attemptEndedAt: change.at,
    exitCode: change.exitCode,
    signal: change.signal ?? null,
    error: change.error ?? null,
    note: change.note ?? null,
    usage: textOf(change.usage),
    result: textOf(change.result),
    failures: change.failures,
    lost: change.lost,
    dueAt: change.dueAt ?? null,
    reason: change.reason ?? null,
    endedAt: isFinal ? change.at : null,
    ...firstStart,
  })
  if (isFinal)
    return [
      job,
      ...withoutCheckpoint(change.job, change.next, executor),
      ...announceEnd(state, change.job, change.next, change.at),
      ...endSession(state, change.job, change.at),
    ]
  const { outcome, at: endedAt, exitCode, signal = null, error = null, note = null, usage = null } = change
  return [
    job,
    {
      op: 'put',
      table: 'attempt',
      row: attemptRow({ ...active, runningAt }, 0, { outcome, endedAt, exitCode, signal, error, note, usage }),
    },
  ]
}

const NOTHING = {}

function textOf(value: Json | undefined): string | null {
  return value === undefined || value === null ? null : jsonOf(value)
}

/** These never say where they run. */
function impliedIsolation(executor: Shape['executor'] | undefined): RunIsolation | null {
  if (executor === 'task') return 'session'
  return executor === 'inline' ? 'inline' : null
}

function endSession(state: State, job: number, at: number): RowWrite[] {
  return state.sessions.has(job) ? [setSession(job, { endedAt: at })] : []
}

function setSession(job: number, set: Partial<SessionRow>): RowWrite {
  return { op: 'update', table: 'session', key: { job }, set }
}

/** An attempt that is not the job's last, as history shows it. */
function attemptRow(
  active: ActiveJob | (LostAttempt & { readonly seq: number }),
  claimed: number,
  end: Record<string, unknown>,
): AttemptRow {
  const { claim, placedAt, runningAt, isolation, containerId } = active
  const body = {
    owner: claim.owner,
    gpus: claim.gpus,
    gpuMemoryMb: claim.gpuMemoryMb,
    placedAt,
    runningAt,
    isolation,
    exitCode: null,
    signal: null,
    note: null,
    usage: null,
    cpusMilli: claim.cpusMilli,
    memoryMb: claim.memoryMb,
    groupId: claim.groupId,
    ...(claim.session === null ? NOTHING : { session: claim.session }),
    ...(containerId === null ? NOTHING : { containerId }),
    ...end,
  }
  return {
    job: claim.job,
    number: claim.attempt,
    epoch: claim.epoch,
    worker: claim.worker,
    claimed,
    body: JSON.stringify(body),
  }
}

function findLost(
  state: State,
  fence: { readonly job: number; readonly epoch: number; readonly attempt: number },
): LostAttempt | undefined {
  for (const worker of state.workers.values()) {
    const lost = worker.lost.get(claimKey(fence))
    if (lost !== undefined) return lost
  }
  return undefined
}
