import type { Change, ChangeOf, JobState } from '@stoker/protocol'
import { freeDevices, giveBack, takeClaim, workerOf } from './claims.ts'
import { moveJob } from './life-cycle.ts'
import { bucketKey } from './shape-of.ts'
import { type ActiveJob, type Claim, claimKey, countersOf, type State, type WorkerState } from './state.ts'
import { classKeyOf } from './worker-class.ts'

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
  bucket: (state, { id, owner, priority, shape, terms }) => {
    const key = bucketKey(owner, priority, shape, terms)
    state.buckets.set(id, { id, key, owner, priority, shape, terms, live: 0 })
    state.bucketByKey.set(key, id)
    state.lastBucket = Math.max(state.lastBucket, id)
  },
  bucketDropped: (state, { id }) => {
    const bucket = state.buckets.get(id)
    if (bucket !== undefined) state.bucketByKey.delete(bucket.key)
    state.buckets.delete(id)
    state.dirtyBuckets.delete(id)
  },
  submitted: (state, { jobs, owner }) => {
    const counters = countersOf(state, owner)
    for (const { seq, bucket } of jobs) {
      state.queued.add({ seq, bucket, attempts: 0, failures: 0, lost: 0 })
      bucketOf(state, bucket).live += 1
      state.dirtyBuckets.add(bucket)
      state.lastSeq = Math.max(state.lastSeq, seq)
    }
    counters.queued += jobs.length
    state.dirtyCounters.add(`queued:${owner}`)
  },
  placed: applyPlaced,
  starting: (state, { job }) => {
    setAttemptState(state, activeOf(state, job), 'starting')
  },
  running: (state, { job, at, isolation }) => {
    const active = activeOf(state, job)
    setAttemptState(state, active, active.state === 'stopping' ? 'stopping' : 'running')
    active.runningAt = at
    active.isolation = isolation
  },
  stopRequested: (state, { job, by }) => {
    const active = activeOf(state, job)
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
    giveBack(state, lost.claim)
  },
  ended: (state, { job, state: end }) => {
    const from = state.queued.has(job) ? 'queued' : 'waiting'
    const { bucket } = from === 'queued' ? state.queued.remove(job) : takeWaiting(state, job)
    endJob(state, bucket, from, end)
  },
  forgotten: (state, { owner, state: end, jobs }) => {
    countersOf(state, owner)[end] -= jobs.length
    state.dirtyCounters.add(`${end}:${owner}`)
  },
  due: (state, { job }) => {
    const { seq, bucket, attempts, failures, lost } = takeWaiting(state, job)
    count(state, bucket, 'waiting', 'queued')
    state.queued.add({ seq, bucket, attempts, failures, lost })
    state.dirtyBuckets.add(bucket)
  },
  worker: applyWorker,
  workerDrained: (state, { id, on }) => {
    workerOf(state, id).draining = on
    state.dirtyWorkers.add(id)
  },
  workerRemoved: (state, { id }) => {
    for (const { claim } of workerOf(state, id).lost.values()) freeDevices(state, claim)
    state.workers.delete(id)
    state.dirtyWorkers.delete(id)
  },
  batch: (state, { worker, n }) => {
    workerOf(state, worker).batch = n
  },
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
}

function applyPlaced(state: State, change: ChangeOf<'placed'>): void {
  const queued = state.queued.remove(change.job)
  const { shape } = bucketOf(state, queued.bucket)
  const claim: Claim = {
    job: change.job,
    epoch: change.epoch,
    attempt: change.attempt,
    worker: change.worker,
    gpus: change.gpus,
    cpusMilli: shape.cpusMilli,
    memoryMb: shape.memoryMb,
  }
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
    cancelBy: null,
    newsAt: Number.NaN,
  }
  takeClaim(state, claim)
  activate(state, active)
}

function applyAttemptEnded(state: State, change: ChangeOf<'attemptEnded'>): void {
  const active = deactivate(state, change.job)
  giveBack(state, active.claim)
  if (change.next === 'queued') {
    count(state, active.bucket, 'active', 'queued')
    requeue(state, active, change.failures, change.lost)
  } else if (change.next === 'waiting') {
    count(state, active.bucket, 'active', 'waiting')
    const { seq, bucket, claim } = active
    state.waiting.set(seq, {
      seq,
      bucket,
      attempts: claim.attempt,
      failures: change.failures,
      lost: change.lost,
      dueAt: change.dueAt ?? 0,
    })
  } else {
    endJob(state, active.bucket, 'active', change.next)
  }
}

function applyLost(state: State, change: ChangeOf<'lost'>): void {
  const active = deactivate(state, change.job)
  const { claim, placedAt, runningAt, isolation } = active
  workerOf(state, claim.worker).lost.set(claimKey(claim), { claim, placedAt, runningAt, isolation })
  count(state, active.bucket, 'active', 'queued')
  requeue(state, active, active.failures, change.lost)
}

function applyResumed(state: State, change: ChangeOf<'resumed'>): void {
  const queued = state.queued.remove(change.job)
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
    cancelBy: null,
    newsAt: Number.NaN,
  })
}

function applyWorker(state: State, { c: _, id, at, ...facts }: ChangeOf<'worker'>): void {
  const known = state.workers.get(id)
  const worker: WorkerState = known ?? {
    id,
    registeredAt: at,
    facts,
    classKey: '',
    draining: false,
    batch: 0,
    active: new Map(),
    lost: new Map(),
    cpusMilliFree: 0,
    memoryMbFree: 0,
    slotsFree: 0,
    connected: false,
    heardAt: Number.NaN,
    seenAt: null,
    leased: 0,
    mistrusted: false,
    coolDown: new Map(),
  }
  worker.facts = facts
  worker.classKey = classKeyOf(facts)
  recountFree(worker)
  state.workers.set(id, worker)
  state.dirtyWorkers.add(id)
}

function recountFree(worker: WorkerState): void {
  const claims = [...[...worker.active.values()].map(a => a.claim), ...[...worker.lost.values()].map(l => l.claim)]
  worker.cpusMilliFree = worker.facts.cpusMilli - claims.reduce((sum, c) => sum + c.cpusMilli, 0)
  worker.memoryMbFree = worker.facts.memoryMb - claims.reduce((sum, c) => sum + c.memoryMb, 0)
  worker.slotsFree = worker.facts.maxJobs - claims.length
}

function activate(state: State, active: ActiveJob): void {
  const worker = workerOf(state, active.claim.worker)
  state.active.set(active.seq, active)
  worker.active.set(active.seq, active)
  if (active.state === 'leased') worker.leased += 1
  count(state, active.bucket, 'queued', 'active')
}

function deactivate(state: State, seq: number): ActiveJob {
  const active = activeOf(state, seq)
  const worker = workerOf(state, active.claim.worker)
  if (active.state === 'leased') worker.leased -= 1
  state.active.delete(seq)
  worker.active.delete(seq)
  return active
}

function setAttemptState(state: State, active: ActiveJob, to: ActiveJob['state']): void {
  if (active.state === 'leased' && to !== 'leased') {
    workerOf(state, active.claim.worker).leased -= 1
    state.dirtyWorkers.add(active.claim.worker)
  }
  active.state = to
}

function requeue(state: State, active: ActiveJob, failures: number, lost: number): void {
  state.queued.add({ seq: active.seq, bucket: active.bucket, attempts: active.claim.attempt, failures, lost })
  state.dirtyBuckets.add(active.bucket)
}

function takeWaiting(state: State, seq: number) {
  const waiting = state.waiting.get(seq)
  if (waiting === undefined) throw new Error(`job ${seq} is not waiting`)
  state.waiting.delete(seq)
  return waiting
}

function endJob(state: State, bucket: number, from: JobState, to: JobState): void {
  count(state, bucket, from, to)
  bucketOf(state, bucket).live -= 1
}

function count(state: State, bucket: number, from: JobState, to: JobState): void {
  const { owner } = bucketOf(state, bucket)
  const counters = countersOf(state, owner)
  counters[from] -= 1
  counters[moveJob(from, to)] += 1
  state.dirtyCounters.add(`${from}:${owner}`).add(`${to}:${owner}`)
}

function activeOf(state: State, seq: number): ActiveJob {
  const active = state.active.get(seq)
  if (active === undefined) throw new Error(`job ${seq} is not active`)
  return active
}

function bucketOf(state: State, id: number) {
  const bucket = state.buckets.get(id)
  if (bucket === undefined) throw new Error(`bucket ${id} does not exist`)
  return bucket
}
