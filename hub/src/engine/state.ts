import type {
  Abilities,
  AttemptState,
  ChangeOf,
  DeviceNews,
  Fence,
  Hardware,
  JobState,
  OwnerLimits,
  RunIsolation,
  Shape,
  TerminalState,
  Terms,
} from '@stoker/protocol'
import type { Reservation, WaitingHead } from '../scheduler/reservation.ts'
import { Edges } from './edges.ts'
import { Fleet } from './fleet.ts'
import type { GroupState } from './groups.ts'
import type { SecretState, TokenState, WebhookState } from './owner-things.ts'
import type { OwnerUse } from './owner-use.ts'
import { QueuedJobs } from './queued-jobs.ts'
import { RunTimeBook } from './run-times.ts'
import type { ScheduleState } from './schedules.ts'
import type { SessionState, Target } from './sessions.ts'
import { UntouchedWorkers } from './untouched.ts'

/** Anything JSON can say. */
export type Json = ChangeOf<'workerNoted'>['note']

/** Wall time for people; lease time for liveness: it advances at most a second a tick, so that a pause expires nothing. */
export interface Now {
  readonly wall: number
  readonly lease: number
}

/** Jobs alike in shape, owner, priority and terms; `live` counts those not ended. */
export interface Bucket {
  readonly id: number
  readonly key: string
  readonly owner: string
  readonly priority: number
  readonly shape: Shape
  readonly terms: Terms
  /** Members of a group have buckets of their own, so that a queued job need not name its group. */
  readonly groupId: string | null
  live: number
}

/** Resources taken on a worker by one attempt, from its placement until it is known to be over. */
export interface Claim {
  readonly job: number
  readonly epoch: number
  readonly attempt: number
  readonly worker: string
  readonly owner: string
  readonly gpus: readonly string[]
  /** Taken of each device; null if it has them whole. */
  readonly gpuMemoryMb: number | null
  readonly cpusMilli: number
  readonly memoryMb: number
  readonly groupId: string | null
  /** Of a task: the attempt of a session in which it has a place; it takes nothing else. */
  readonly session: Fence | null
}

export interface ActiveJob {
  readonly seq: number
  readonly bucket: number
  readonly claim: Claim
  readonly placedAt: number
  failures: number
  lost: number
  state: Exclude<AttemptState, 'ended'>
  runningAt: number | null
  isolation: RunIsolation | null
  containerId: string | null
  cancelBy: string | null
  /** Volatile: lease time at which the hub last had news of this attempt's set-up. */
  newsAt: number
}

/** A lost attempt: its worker may bring it back until another placement is committed. */
export interface LostAttempt {
  readonly claim: Claim
  readonly placedAt: number
  readonly runningAt: number | null
  readonly isolation: ActiveJob['isolation']
  readonly containerId: string | null
}

/** A job that may not be placed: see waiting.ts for its causes. */
export interface WaitingJob {
  readonly seq: number
  readonly bucket: number
  readonly attempts: number
  readonly failures: number
  readonly lost: number
  /** The end of a backoff between two attempts. */
  readonly dueAt: number | null
  readonly heldBy: string | null
}

export interface WorkerFacts {
  readonly name: string
  readonly version: string
  readonly owner: string
  readonly tags: readonly string[]
  readonly maxJobs: number
  readonly window: number
  readonly cpusMilli: number
  readonly memoryMb: number
  readonly hardware: Hardware
  readonly abilities: Abilities
  readonly secretHash: string
  readonly bootId: string
  /** Absent: our own protocol. */
  readonly dialect?: { readonly name: string; readonly quietMs: number } | undefined
}

export interface WorkerState {
  readonly id: string
  readonly registeredAt: number
  facts: WorkerFacts
  /** Workers of one class differ in nothing a filter looks at. */
  classKey: string
  draining: boolean
  batch: number
  /** What its gateway remembers of it; nobody else reads it. */
  note: Json
  readonly active: Map<number, ActiveJob>
  readonly lost: Map<string, LostAttempt>
  cpusMilliFree: number
  memoryMbFree: number
  slotsFree: number
  /** Volatile: no change, not in the journal. */
  connected: boolean
  heardAt: number
  seenAt: number | null
  leased: number
  /** It lost attempts by its silence and was not heard since: it gets nothing new. */
  mistrusted: boolean
  /** Of a worker that takes jobs only when it asks: how many it asks for, until the next plan. */
  asks: number
  readonly coolDown: Map<number, number>
  /** What it last said of its devices, by uuid. */
  readonly deviceNews: Map<string, DeviceNews>
}

/** A device that is kept from all jobs until someone releases it. */
interface Quarantine {
  readonly reason: string
  readonly by: string
  readonly at: number
}

/** Live state: what can still change. Everything else is in the store. */
export interface State {
  epoch: number
  lastSeq: number
  lastBucket: number
  /** Where the last job that came in went: only a hint where to look first, so nothing rests on it. */
  recentBucket: number
  journal: { n: number; hash: string }
  readonly buckets: Map<number, Bucket>
  readonly bucketByKey: Map<string, number>
  readonly queued: QueuedJobs
  readonly waiting: Map<number, WaitingJob>
  /** The waiting jobs with a `dueAt`: all that a tick has to look at. */
  readonly backoffs: Set<number>
  readonly edges: Edges
  /** Jobs that have ended while others wait for them, until all of those were told. */
  readonly settling: Map<number, TerminalState>
  readonly active: Map<number, ActiveJob>
  readonly workers: Map<string, WorkerState>
  /** Device uuid → the claims on it by their key, across all workers: two workers on one host share devices. */
  readonly devices: Map<string, Map<string, Claim>>
  readonly quarantined: Map<string, Quarantine>
  readonly ownerUses: Map<string, OwnerUse>
  readonly tokens: Map<string, TokenState>
  readonly tokenByHash: Map<string, string>
  readonly webhooks: Map<string, WebhookState>
  readonly secrets: Map<string, SecretState>
  readonly counters: Map<string, Record<JobState, number>>
  readonly groups: Map<string, GroupState>
  readonly limits: Map<string, OwnerLimits>
  readonly schedules: Map<string, ScheduleState>
  /** By the number of their job; those that have not ended. */
  readonly sessions: Map<number, SessionState>
  /** What tasks wait for, by `taskTarget`: those with a session or a queued task. */
  readonly targets: Map<string, Target>
  /** Targets whose session has ended while tasks are queued for it. */
  readonly orphans: Set<string>
  /** Volatile: places in sessions whose attempt ended in this batch. */
  readonly vacated: Claim[]
  /** Volatile: `state:owner` of the counters the current batch moved. */
  readonly dirtyCounters: Map<string, Set<JobState>>
  /** Volatile: groups whose counts the current batch moved, also those that ended by it. */
  readonly dirtyGroups: Set<GroupState>
  /** Volatile: owners and groups whose limits may let something start. */
  readonly woken: Set<string>
  /** Volatile: owners whose use the current batch moved. */
  readonly dirtyOwners: Set<string>
  /** Volatile: sums over all workers. */
  readonly fleet: Fleet
  /** Volatile: workers with nothing on them. */
  readonly untouched: UntouchedWorkers
  /** Volatile: what the workers together say of each device. */
  readonly deviceNews: Map<string, DeviceNews>
  /** Volatile: the oldest job of each bucket that could not start, and since when. */
  readonly waitingHeads: Map<number, WaitingHead>
  /** Volatile: workers that are kept free for jobs that waited too long; `lookedAt` is lease time. */
  readonly reservations: { held: readonly Reservation[]; lookedAt: number }
  /** Volatile: how long jobs alike took. */
  readonly runTimes: RunTimeBook
  /** Volatile: what the next plan has to look at. */
  readonly dirtyBuckets: Set<number>
  readonly dirtyWorkers: Set<string>
  readonly dirtyTargets: Set<string>
  /** Volatile: workers that ask for jobs now. */
  readonly askers: Set<string>
}

export function emptyState(): State {
  return {
    epoch: 0,
    lastSeq: 0,
    lastBucket: 0,
    recentBucket: 0,
    journal: { n: 0, hash: '' },
    buckets: new Map(),
    bucketByKey: new Map(),
    queued: new QueuedJobs(),
    waiting: new Map(),
    backoffs: new Set(),
    edges: new Edges(),
    settling: new Map(),
    active: new Map(),
    workers: new Map(),
    devices: new Map(),
    quarantined: new Map(),
    ownerUses: new Map(),
    tokens: new Map(),
    tokenByHash: new Map(),
    webhooks: new Map(),
    secrets: new Map(),
    counters: new Map(),
    groups: new Map(),
    limits: new Map(),
    schedules: new Map(),
    sessions: new Map(),
    targets: new Map(),
    orphans: new Set(),
    vacated: [],
    dirtyCounters: new Map(),
    dirtyGroups: new Set(),
    woken: new Set(),
    dirtyOwners: new Set(),
    fleet: new Fleet(),
    untouched: new UntouchedWorkers(),
    deviceNews: new Map(),
    waitingHeads: new Map(),
    reservations: { held: [], lookedAt: Number.NEGATIVE_INFINITY },
    runTimes: new RunTimeBook(),
    dirtyBuckets: new Set(),
    dirtyWorkers: new Set(),
    dirtyTargets: new Set(),
    askers: new Set(),
  }
}

export function claimKey(claim: { readonly job: number; readonly epoch: number; readonly attempt: number }): string {
  return `${claim.job}-${claim.epoch}-${claim.attempt}`
}

export function countersOf(state: State, owner: string): Record<JobState, number> {
  const known = state.counters.get(owner)
  if (known !== undefined) return known
  const fresh = { waiting: 0, queued: 0, active: 0, succeeded: 0, failed: 0, canceled: 0, timed_out: 0 }
  state.counters.set(owner, fresh)
  return fresh
}
