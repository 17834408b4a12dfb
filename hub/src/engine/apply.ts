import { type Change, type ChangeOf, type JobState, sessionEnd, type TerminalState } from '@stoker/protocol'
import { FLEET_APPLIERS } from './apply-fleet.ts'
import { addWaiting, isBornWaiting, WAITING_APPLIERS } from './apply-waiting.ts'
import { claimOf, giveBack, isOutstanding, takeClaim, workerOf } from './claims.ts'
import { addGroup, countInGroup } from './groups.ts'
import { applyOwned } from './owned.ts'
import { applyOwnerRules } from './owner-rules.ts'
import { settleUseOf } from './owner-use.ts'
import { dequeue, enqueue } from './queue.ts'
import { learnRun } from './run-times.ts'
import { beginAttempt, closeSession, openSession, takePlace, touchSession, vacate, wakeSession } from './sessions.ts'
import { bucketKey } from './shape-of.ts'
import { type ActiveJob, claimKey, countersOf, type State } from './state.ts'
import { bucketOf, countMove, markMoved } from './tally.ts'
import { beginSettling, dropEdgesOf, putWaiting, takeWaiting } from './waiting.ts'

type Appliers = { readonly [C in Change['c']]: (state: State, change: ChangeOf<C>) => void }

/** The one place where a fact changes live state. It believes every change: deciding came before. */
export function apply(state: State, change: Change): void {
  const applier = APPLIERS[change.c] as (state: State, change: Change) => void
  applier(state, change)
}

const APPLIERS: Appliers = {
  epoch: (state, { epoch }) => {
    state.epoch = epoch
  },
  bucket: (state, { id, owner, priority, shape, terms, groupId = null }) => {
    const key = bucketKey(owner, priority, shape, terms, groupId)
    state.buckets.set(id, { id, key, owner, priority, shape, terms, groupId, live: 0 })
    state.bucketByKey.set(key, id)
    state.lastBucket = Math.max(state.lastBucket, id)
  },
  bucketDropped: (state, { id }) => {
    const bucket = state.buckets.get(id)
    if (bucket !== undefined) state.bucketByKey.delete(bucket.key)
    state.buckets.delete(id)
    state.dirtyBuckets.delete(id)
  },
  group: (state, group) => {
    addGroup(state, group)
  },
  submitted: (state, { jobs, owner }) => {
    const counters = countersOf(state, owner)
    let waiting = 0
    for (const job of jobs) {
      const { seq, bucket } = job
      const known = bucketOf(state, bucket)
      known.live += 1
      if (known.terms.session !== null) openSession(state, { seq, id: job.id, owner, terms: known.terms.session })
      if (isBornWaiting(job)) {
        addWaiting(state, job)
        countInGroup(state, known.groupId, null, 'waiting')
        waiting += 1
      } else {
        enqueue(state, { seq, bucket, attempts: 0, failures: 0, lost: 0 })
        countInGroup(state, known.groupId, null, 'queued')
      }
      state.lastSeq = Math.max(state.lastSeq, seq)
      state.recentBucket = bucket
    }
    counters.waiting += waiting
    counters.queued += jobs.length - waiting
    markMoved(state, owner, 'queued')
    if (waiting > 0) markMoved(state, owner, 'waiting')
  },
  placed: applyPlaced,
  starting: (state, { job }) => {
    setAttemptState(state, activeOf(state, job), 'starting')
  },
  running: (state, { job, at, isolation, containerId }) => {
    const active = activeOf(state, job)
    setAttemptState(state, active, active.state === 'stopping' ? 'stopping' : 'running')
    active.runningAt = at
    active.isolation = isolation
    active.containerId = containerId ?? active.containerId
    const session = state.sessions.get(job)
    if (session === undefined) return
    touchSession(session, at)
    wakeSession(state, session)
  },
  stopRequested: (state, { job, by, endsSession }) => {
    const active = activeOf(state, job)
    const session = state.sessions.get(job)
    if (session !== undefined && endsSession === true) session.endsBy = by
    active.cancelBy = by
    setAttemptState(state, active, 'stopping')
  },
  attemptEnded: applyAttemptEnded,
  lost: applyLost,
  resumed: applyResumed,
  released: (state, change) => {
    const worker = workerOf(state, change.worker)
    const lost = worker.lost.get(claimKey(change))
    if (lost === undefined) return
    worker.lost.delete(claimKey(change))
    settleUseOf(state, lost.claim, change.at, false)
    giveBack(state, lost.claim, change.at)
  },
  ended: (state, { job, state: end, reason }) => {
    const from = state.queued.has(job) ? 'queued' : 'waiting'
    const { bucket } = from === 'queued' ? dequeue(state, job) : takeWaiting(state, job)
    dropEdgesOf(state, job)
    endJob(state, job, bucket, from, end, reason)
  },
  forgotten: (state, { owner, state: end, jobs }) => {
    countersOf(state, owner)[end] -= jobs.length
    markMoved(state, owner, end)
  },
  ...WAITING_APPLIERS,
  ...FLEET_APPLIERS,
  token: (state, { c: _, at, ...token }) => {
    state.tokens.set(token.id, { ...token, createdAt: at, usedBy: null })
    state.tokenByHash.set(token.hash, token.id)
  },
  tokenUsed: (state, { id, by }) => {
    const token = state.tokens.get(id)
    if (token !== undefined) token.usedBy = by
  },
  tokenRevoked: (state, { id }) => {
    const token = state.tokens.get(id)
    if (token !== undefined) state.tokenByHash.delete(token.hash)
    state.tokens.delete(id)
  },
  ...applyOwned,
  ...applyOwnerRules,
  audited: () => {},
  auditEnded: () => {},
  checkpointed: () => {},
}

function applyPlaced(state: State, change: ChangeOf<'placed'>): void {
  const queued = dequeue(state, change.job)
  const session = change.session === undefined ? null : activeOf(state, change.session).claim
  const fence = session === null ? null : { job: session.job, epoch: session.epoch, attempt: session.attempt }
  const claim = claimOf(change, change.worker, change.gpus, bucketOf(state, queued.bucket), fence)
  settleUseOf(state, claim, change.at, true)
  beginAttempt(state, change.job)
  const active: ActiveJob = {
    seq: change.job,
    bucket: queued.bucket,
    claim,
    placedAt: change.at,
    failures: queued.failures,
    lost: queued.lost,
    state: 'leased',
    runningAt: null,
    isolation: null,
    containerId: null,
    cancelBy: null,
    newsAt: Number.NaN,
  }
  takeClaim(state, claim)
  if (fence !== null) takePlace(state, claim, fence.attempt)
  activate(state, active)
}

function applyAttemptEnded(state: State, change: ChangeOf<'attemptEnded'>): void {
  const active = deactivate(state, change.job)
  learnRun(state, active, change)
  settleUseOf(state, active.claim, change.at, false)
  giveBack(state, active.claim, change.at)
  vacate(state, change.job)
  if (change.next === 'queued') {
    countMove(state, active.bucket, 'active', 'queued')
    requeue(state, active, change.failures, change.lost)
  } else if (change.next === 'waiting') {
    countMove(state, active.bucket, 'active', 'waiting')
    const { seq, bucket, claim } = active
    putWaiting(state, {
      seq,
      bucket,
      attempts: claim.attempt,
      failures: change.failures,
      lost: change.lost,
      dueAt: change.dueAt ?? 0,
      heldBy: null,
    })
  } else {
    endJob(state, change.job, active.bucket, 'active', change.next, change.reason ?? null)
  }
}

function applyLost(state: State, change: ChangeOf<'lost'>): void {
  const active = deactivate(state, change.job)
  const { claim, placedAt, runningAt, isolation, containerId } = active
  workerOf(state, claim.worker).lost.set(claimKey(claim), { claim, placedAt, runningAt, isolation, containerId })
  countMove(state, active.bucket, 'active', 'queued')
  requeue(state, active, active.failures, change.lost)
  vacate(state, change.job)
}

function applyResumed(state: State, change: ChangeOf<'resumed'>): void {
  const queued = dequeue(state, change.job)
  const worker = [...state.workers.values()].find(w => w.lost.has(claimKey(change)))
  const lost = worker?.lost.get(claimKey(change))
  if (worker === undefined || lost === undefined)
    throw new Error(`attempt ${claimKey(change)} is not lost and cannot be resumed`)
  worker.lost.delete(claimKey(change))
  activate(state, {
    seq: change.job,
    bucket: queued.bucket,
    claim: lost.claim,
    placedAt: lost.placedAt,
    failures: queued.failures,
    lost: queued.lost,
    state: lost.runningAt === null ? 'starting' : 'running',
    runningAt: lost.runningAt,
    isolation: lost.isolation,
    containerId: lost.containerId,
    cancelBy: null,
    newsAt: Number.NaN,
  })
  const session = state.sessions.get(change.job)
  if (session !== undefined) wakeSession(state, session)
}

function activate(state: State, active: ActiveJob): void {
  const worker = workerOf(state, active.claim.worker)
  state.active.set(active.seq, active)
  worker.active.set(active.seq, active)
  if (isOutstanding(active)) worker.leased += 1
  countMove(state, active.bucket, 'queued', 'active')
}

function deactivate(state: State, seq: number): ActiveJob {
  const active = activeOf(state, seq)
  const worker = workerOf(state, active.claim.worker)
  if (isOutstanding(active)) worker.leased -= 1
  state.active.delete(seq)
  worker.active.delete(seq)
  return active
}

function setAttemptState(state: State, active: ActiveJob, to: ActiveJob['state']): void {
  if (isOutstanding(active) && to !== 'leased') {
    workerOf(state, active.claim.worker).leased -= 1
    state.dirtyWorkers.add(active.claim.worker)
  }
  active.state = to
}

function requeue(state: State, active: ActiveJob, failures: number, lost: number): void {
  enqueue(state, { seq: active.seq, bucket: active.bucket, attempts: active.claim.attempt, failures, lost })
}

function endJob(
  state: State,
  job: number,
  bucket: number,
  from: JobState,
  to: TerminalState,
  reason: string | null,
): void {
  countMove(state, bucket, from, to)
  const known = bucketOf(state, bucket)
  known.live -= 1
  if (known.terms.session !== null) closeSession(state, job, sessionEnd(to, reason))
  beginSettling(state, job, to)
}

function activeOf(state: State, seq: number): ActiveJob {
  const active = state.active.get(seq)
  if (active === undefined) throw new Error(`job ${seq} is not active`)
  return active
}
