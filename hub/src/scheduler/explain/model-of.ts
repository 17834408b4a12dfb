import type { Shape } from '@stoker/protocol'
import { limitsOf } from '../../engine/owner-limits.ts'
import type { ActiveJob, Bucket, Claim, Now, State, WorkerState } from '../../engine/state.ts'
import { claimsOn } from '../claims-on.ts'
import { Devices } from '../devices.ts'
import { isOpen } from '../door.ts'
import { FitByClass } from '../fit.ts'
import type { Forecast } from './forecast.ts'
import type { Ahead, Position } from './position.ts'
import type { Amounts, Others, QueueModel } from './queue-model.ts'

/** More workers are not played through: a part of them, with as large a part of those ahead, tells as much. */
const MOST_SERVERS = 24
const MOST_AHEAD = 24
const MOST_BEHIND = 8
const MOST_RUNNING = 400
const UNBOUNDED = Number.MAX_SAFE_INTEGER

/** The workers that could take the job, what runs there and who comes first. */
export function fleetModel(state: State, bucket: Bucket, position: Position, forecast: Forecast, now: Now): QueueModel {
  const fit = new FitByClass(bucket.shape)
  const open = [...state.workers.values()].filter(worker => fit.with(worker) && isOpen(worker, now))
  const chosen = spread(open, MOST_SERVERS)
  const devices = new Devices(state)
  const part = open.length === 0 ? 0 : chosen.length / open.length
  const running = chosen.flatMap((worker, server) =>
    claimsOn(state, worker)
      .slice(0, Math.ceil(MOST_RUNNING / chosen.length))
      .map(claim => ({ server, takes: ofClaim(claim, worker), remaining: remainingOf(state, claim, forecast, now) })),
  )
  const othersOf = ({ bucket: other, jobs }: Ahead): Others => {
    const otherFit = new FitByClass(other.shape)
    return {
      jobs: jobs * part,
      rank: -other.priority,
      takes: ofShape(other.shape, chosen[0]),
      lasts: forecast.lasts(other),
      fits: chosen.map(worker => otherFit.with(worker)),
    }
  }
  const isSmaller = ({ bucket: { shape } }: Ahead): boolean => takesLess(shape, bucket.shape)
  return {
    servers: chosen.map(worker => freeOf(devices, worker)),
    running,
    ahead: firstBuckets(position.ahead, MOST_AHEAD).map(othersOf),
    behind: position.behind.filter(isSmaller).slice(0, MOST_BEHIND).map(othersOf),
    takes: ofShape(bucket.shape, chosen[0]),
  }
}

/** A limit is like one worker with that many places: what its owner or group has running, and has before the job. */
export function limitModel(state: State, bucket: Bucket, position: Position, forecast: Forecast, now: Now): QueueModel {
  const group = bucket.groupId === null ? undefined : state.groups.get(bucket.groupId)
  const isByGroup = group !== undefined && group.maxParallel !== null && group.claims >= group.maxParallel
  const isOurs = isByGroup
    ? (claim: Claim): boolean => claim.groupId === bucket.groupId
    : (claim: Claim): boolean => claim.owner === bucket.owner
  const isAhead = ({ bucket: other }: Ahead): boolean =>
    isByGroup ? other.groupId === bucket.groupId : other.owner === bucket.owner
  const running: ActiveJob[] = []
  for (const active of state.active.values()) if (isOurs(active.claim)) running.push(active)
  return {
    servers: [isByGroup ? { ...NO_BOUND, slots: 0 } : leftOf(state, bucket.owner)],
    running: running.slice(0, MOST_RUNNING).map(({ claim }) => ({
      server: 0,
      takes: { slots: 1, cpusMilli: 0, memoryMb: 0, gpus: claim.gpus.length },
      remaining: remainingOf(state, claim, forecast, now),
    })),
    behind: [],
    ahead: firstBuckets(position.ahead.filter(isAhead), MOST_AHEAD).map(one => ({
      jobs: one.jobs,
      rank: -one.bucket.priority,
      takes: ofLimit(one.bucket.shape),
      lasts: forecast.lasts(one.bucket),
      fits: [true],
    })),
    takes: ofLimit(bucket.shape),
  }
}

const NO_BOUND: Amounts = { slots: UNBOUNDED, cpusMilli: UNBOUNDED, memoryMb: UNBOUNDED, gpus: UNBOUNDED }

function leftOf(state: State, owner: string): Amounts {
  const { running, gpus } = limitsOf(state, owner)
  const use = state.ownerUses.get(owner)?.now
  return {
    ...NO_BOUND,
    slots: running === null ? UNBOUNDED : running - (use?.slots ?? 0),
    gpus: gpus === null ? UNBOUNDED : gpus - (use?.devices ?? 0),
  }
}

function ofLimit({ gpus }: Shape): Amounts {
  return { slots: 1, cpusMilli: 0, memoryMb: 0, gpus }
}

function remainingOf(state: State, claim: Claim, forecast: Forecast, now: Now) {
  const active = state.active.get(claim.job)
  const bucket = state.buckets.get(active?.bucket ?? state.queued.get(claim.job)?.bucket ?? -1)
  if (bucket === undefined || active?.claim.attempt !== claim.attempt) return () => Number.POSITIVE_INFINITY
  return forecast.remaining(bucket, Math.max(0, now.wall - active.placedAt))
}

function freeOf(devices: Devices, worker: WorkerState): Amounts {
  const free = worker.facts.hardware.gpus.map(gpu => {
    const { out, whole, partsMb, memoryMb } = devices.spaceOf(gpu)
    return out !== null || whole > 0 ? 0 : 1 - partsMb / Math.max(1, memoryMb)
  })
  return {
    slots: worker.slotsFree,
    cpusMilli: worker.cpusMilliFree,
    memoryMb: worker.memoryMbFree,
    gpus: free.reduce((sum, one) => sum + one, 0),
  }
}

function ofShape(
  { cpusMilli, memoryMb, gpus, gpuSharing, gpuMemoryMb }: Shape,
  worker: WorkerState | undefined,
): Amounts {
  const deviceMb = worker?.facts.hardware.gpus[0]?.memoryMb ?? 0
  const part = gpuSharing === 'shared' ? gpuMemoryMb / Math.max(1, gpuMemoryMb, deviceMb) : 1
  return { slots: 1, cpusMilli, memoryMb, gpus: gpus * part }
}

/** A claim through another worker takes devices only. */
function ofClaim(claim: Claim, worker: WorkerState): Amounts {
  const device = worker.facts.hardware.gpus.find(({ uuid }) => uuid === claim.gpus[0])
  const here = worker.facts.hardware.gpus.filter(({ uuid }) => claim.gpus.includes(uuid)).length
  const part = claim.gpuMemoryMb === null ? 1 : claim.gpuMemoryMb / Math.max(1, device?.memoryMb ?? claim.gpuMemoryMb)
  if (claim.worker !== worker.id) return { slots: 0, cpusMilli: 0, memoryMb: 0, gpus: here * part }
  return { slots: 1, cpusMilli: claim.cpusMilli, memoryMb: claim.memoryMb, gpus: here * part }
}

/** What comes after the first ones is added to the last of them. */
function firstBuckets(ahead: readonly Ahead[], most: number): readonly Ahead[] {
  if (ahead.length <= most) return ahead
  const rest = ahead.slice(most).reduce((sum, { jobs }) => sum + jobs, 0)
  return ahead.slice(0, most).map((one, index) => (index === most - 1 ? { ...one, jobs: one.jobs + rest } : one))
}

function takesLess(a: Shape, b: Shape): boolean {
  return a.cpusMilli < b.cpusMilli || a.memoryMb < b.memoryMb || a.gpus < b.gpus
}

function spread<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items
  return items.filter(
    (_, index) => Math.floor((index * most) / items.length) !== Math.floor(((index - 1) * most) / items.length),
  )
}
