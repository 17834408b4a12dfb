import {
  type AttemptRow,
  type BucketRow,
  type CounterRow,
  type DeviceRow,
  type EdgeRow,
  type Fence,
  type GroupRow,
  type HoldRow,
  isTerminal,
  type JobState,
  type OwnerLimitsRow,
  type OwnerUseRow,
  type ScheduleRow,
  type SessionRow,
  Shape,
  Terms,
  type TokenRow,
  type WebhookRow,
  type WorkerRow,
} from '@stoker/protocol'
import { apply } from './apply.ts'
import { claimOf, isOutstanding, takeClaim, touchDevice } from './claims.ts'
import { restoreGroup } from './groups.ts'
import { type SecretState, secretKey } from './owner-things.ts'
import { useOf } from './owner-use.ts'
import { countTask } from './queue.ts'
import { openSession, takePlace } from './sessions.ts'
import { bucketKey } from './shape-of.ts'
import { type ActiveJob, type Claim, claimKey, countersOf, emptyState, type Now, type State } from './state.ts'
import { beginSettling, putWaiting, waitingOf } from './waiting.ts'

/** What the store gives back after a start; see the store's port. */
export interface RecoveredRows {
  readonly epoch: number
  readonly lastSeq: number
  readonly journal: { readonly n: number; readonly hash: string }
  readonly buckets: readonly BucketRow[]
  readonly workers: readonly WorkerRow[]
  readonly tokens: readonly TokenRow[]
  readonly webhooks: readonly WebhookRow[]
  readonly secrets: readonly SecretState[]
  readonly counters: readonly CounterRow[]
  /** Those with a member that has not ended. */
  readonly groups: readonly GroupRow[]
  readonly limits: readonly OwnerLimitsRow[]
  readonly schedules: readonly ScheduleRow[]
  readonly ownerUses: readonly OwnerUseRow[]
  readonly devices: readonly DeviceRow[]
  readonly claims: readonly AttemptRow[]
  readonly active: readonly RecoveredActive[]
  readonly edges: readonly (EdgeRow & { readonly id: string; readonly state: JobState })[]
  readonly holds: readonly HoldRow[]
  /** Those that have not ended. */
  readonly sessions: readonly SessionRow[]
}

export interface RecoveredActive {
  readonly seq: number
  readonly attemptEpoch: number
  readonly attemptState: ActiveJob['state']
  readonly worker: string
  readonly gpus: readonly string[]
  readonly placedAt: number
  readonly runningAt: number | null
  readonly cancelBy: string | null
  readonly isolation: string | null
  readonly session: number | null
  readonly containerId: string | null
}

export interface RecoveredJob {
  readonly seq: number
  readonly bucket: number
  readonly state: 'waiting' | 'queued' | 'active'
  readonly attempts: number
  readonly failures: number
  readonly lost: number
  readonly dueAt: number | null
}

/** Builds live state from rows. Jobs come in slices before the rest is known, so their buckets are counted afterwards. */
export class Recovering {
  readonly #state: State = emptyState()
  readonly #active = new Map<number, RecoveredJob>()
  /** The newest attempt of each job that may be a session. */
  readonly #attempts = new Map<number, number>()
  readonly #live = new Map<number, number>()

  readonly visit = (jobs: readonly RecoveredJob[]): void => {
    for (const job of jobs) {
      this.#live.set(job.bucket, (this.#live.get(job.bucket) ?? 0) + 1)
      const { seq, bucket, attempts, failures, lost } = job
      if (job.state === 'queued') this.#state.queued.add({ seq, bucket, attempts, failures, lost })
      else if (job.state === 'waiting')
        putWaiting(this.#state, { seq, bucket, attempts, failures, lost, dueAt: job.dueAt, heldBy: null })
      else this.#active.set(seq, { ...job })
    }
  }

  /** Every lease gets a full term after a start: workers count as heard now. */
  finish(rows: RecoveredRows, now: Now): State {
    const state = this.#state
    state.epoch = rows.epoch
    state.lastSeq = rows.lastSeq
    state.journal = { n: rows.journal.n, hash: rows.journal.hash }
    for (const row of rows.buckets) this.#bucket(row)
    for (const row of rows.workers) restoreWorker(state, row, now)
    for (const { createdAt, ...token } of rows.tokens) {
      state.tokens.set(token.id, { ...token, createdAt })
      state.tokenByHash.set(token.hash, token.id)
    }
    for (const { on, labels, ...webhook } of rows.webhooks)
      state.webhooks.set(webhook.id, { ...webhook, on: JSON.parse(on), labels: JSON.parse(labels) })
    for (const secret of rows.secrets) state.secrets.set(secretKey(secret.owner, secret.name), secret)
    for (const { owner, state: name, n } of rows.counters) countersOf(state, owner)[name] = n
    for (const row of rows.groups) restoreGroup(state, row)
    for (const { owner, ...limits } of rows.limits) state.limits.set(owner, limits)
    for (const { spec: _, ...schedule } of rows.schedules) state.schedules.set(schedule.id, schedule)
    for (const { owner, average, at } of rows.ownerUses) Object.assign(useOf(state, owner), { average, at })
    for (const { uuid, reason, quarantinedBy: by, quarantinedAt: at } of rows.devices) {
      state.quarantined.set(uuid, { reason, by, at })
      touchDevice(state, uuid)
    }
    for (const row of rows.sessions) this.#restoreSession(row, now)
    for (const row of rows.active) if (row.session === null) this.#restoreActive(row, now)
    for (const row of rows.active) if (row.session !== null) this.#restoreActive(row, now)
    for (const row of rows.claims) this.#restoreLost(row)
    for (const { state: other, ...edge } of rows.edges) {
      state.edges.add(edge)
      if (isTerminal(other)) beginSettling(state, edge.dependency, other)
    }
    for (const { job, by } of rows.holds) putWaiting(state, { ...waitingOf(state, job), heldBy: by })
    for (const id of state.queued.buckets()) {
      const target = state.buckets.get(id)?.shape.target ?? null
      if (target === null) state.dirtyBuckets.add(id)
      else countTask(state, target, id, state.queued.sizeOf(id))
    }
    return state
  }

  #bucket(row: BucketRow): void {
    const { id, owner, priority, groupId } = row
    const shape = Shape.parse(JSON.parse(row.shape))
    const terms = Terms.parse(JSON.parse(row.terms))
    const key = bucketKey(owner, priority, shape, terms, groupId)
    this.#state.buckets.set(id, { id, key, owner, priority, shape, terms, groupId, live: this.#live.get(id) ?? 0 })
    this.#state.bucketByKey.set(key, id)
    this.#state.lastBucket = Math.max(this.#state.lastBucket, id)
  }

  #restoreActive(row: RecoveredActive, now: Now): void {
    const state = this.#state
    const job = this.#active.get(row.seq)
    const bucket = state.buckets.get(job?.bucket ?? -1)
    const worker = state.workers.get(row.worker)
    if (job === undefined || bucket === undefined || worker === undefined)
      throw new Error(`job ${row.seq} is active without its bucket or worker`)
    const fence = { job: row.seq, epoch: row.attemptEpoch, attempt: job.attempts }
    const claim = claimOf(fence, row.worker, row.gpus, bucket, this.#placeOf(row))
    const active: ActiveJob = {
      seq: row.seq,
      bucket: job.bucket,
      claim,
      placedAt: row.placedAt,
      failures: job.failures,
      lost: job.lost,
      state: row.attemptState,
      runningAt: row.runningAt,
      isolation: row.isolation as ActiveJob['isolation'],
      containerId: row.containerId,
      cancelBy: row.cancelBy,
      newsAt: now.lease,
    }
    takeClaim(state, claim)
    if (claim.session !== null) takePlace(state, claim, claim.session.attempt)
    state.active.set(active.seq, active)
    worker.active.set(active.seq, active)
    if (isOutstanding(active)) worker.leased += 1
  }

  /** An active task is in a place of the attempt that its session has now. */
  #placeOf({ seq, session }: RecoveredActive): Fence | null {
    if (session === null) return null
    const holder = this.#state.active.get(session)?.claim
    if (holder === undefined) throw new Error(`task ${seq} has a place in session ${session}, which is not active`)
    return { job: holder.job, epoch: holder.epoch, attempt: holder.attempt }
  }

  #restoreSession({ job, id, owner, endsBy }: SessionRow, now: Now): void {
    const state = this.#state
    const waiting = state.queued.get(job) ?? state.waiting.get(job) ?? this.#active.get(job)
    const terms = state.buckets.get(waiting?.bucket ?? -1)?.terms.session ?? null
    if (waiting === undefined || terms === null) throw new Error(`session ${job} lives without its job or its terms`)
    const session = openSession(state, { seq: job, id, owner, terms })
    session.endsBy = endsBy
    session.quietSince = now.lease
    this.#attempts.set(job, waiting.attempts)
  }

  #restoreLost(row: AttemptRow): void {
    const claim = restoreLost(this.#state, row)
    if (claim !== null && claim.session !== null)
      takePlace(this.#state, claim, this.#attempts.get(claim.session.job) ?? -1)
  }
}

function restoreWorker(state: State, row: WorkerRow, now: Now): void {
  const { registeredAt, draining, batch, tags, hardware, abilities, dialect, gatewayNote, ...facts } = row
  apply(state, {
    c: 'worker',
    ...facts,
    tags: JSON.parse(tags),
    hardware: JSON.parse(hardware),
    abilities: JSON.parse(abilities),
    ...(dialect === null ? {} : { dialect: JSON.parse(dialect) }),
    at: registeredAt,
  })
  const worker = state.workers.get(row.id)
  if (worker === undefined) return
  worker.draining = draining === 1
  worker.batch = batch
  worker.note = gatewayNote === null ? null : JSON.parse(gatewayNote)
  worker.heardAt = now.lease
}

function restoreLost(state: State, row: AttemptRow): Claim | null {
  const worker = state.workers.get(row.worker)
  if (worker === undefined) return null
  const body: Omit<Claim, 'job' | 'epoch' | 'attempt' | 'worker'> &
    Pick<ActiveJob, 'placedAt' | 'runningAt' | 'isolation'> &
    Partial<Pick<ActiveJob, 'containerId'>> = JSON.parse(row.body)
  const claim: Claim = {
    job: row.job,
    epoch: row.epoch,
    attempt: row.number,
    worker: row.worker,
    owner: body.owner,
    gpus: body.gpus,
    gpuMemoryMb: body.gpuMemoryMb,
    cpusMilli: body.cpusMilli,
    memoryMb: body.memoryMb,
    groupId: body.groupId,
    session: body.session ?? null,
  }
  worker.lost.set(claimKey(claim), {
    claim,
    placedAt: body.placedAt,
    runningAt: body.runningAt,
    isolation: body.isolation,
    containerId: body.containerId ?? null,
  })
  takeClaim(state, claim)
  return claim
}
