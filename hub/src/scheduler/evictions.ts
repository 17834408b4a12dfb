import type { SessionState } from '../engine/sessions.ts'
import type { Bucket, Now, State, WorkerState } from '../engine/state.ts'
import { Devices } from './devices.ts'
import { isCooling, isOpen } from './door.ts'
import { couldRun } from './fit.ts'
import { limitReason } from './limits.ts'
import { Room } from './room.ts'

/** A job waits this long before an idle session is ended for it, in lease time: what ends in a moment anyway is waited for. */
const PATIENCE_MS = 1_000
/** Heads that are looked at in one tick, of the highest priorities. */
const MOST_HEADS = 20

/**
 * Idle sessions to end so that jobs get the GPUs they wait for: on the worker where the fewest have to go, the longest
 * unused first. Ends that were asked for before count as done.
 */
export function evictions(state: State, now: Now): readonly number[] {
  if (![...state.sessions.values()].some(session => isIdle(state, session))) return []
  const chosen = new Set<number>()
  for (const bucket of needyBuckets(state, now)) {
    const found = smallest([...state.workers.values()].map(worker => victimsOn(state, worker, bucket, chosen, now)))
    for (const seq of found ?? []) chosen.add(seq)
  }
  return [...chosen]
}

function needyBuckets(state: State, now: Now): readonly Bucket[] {
  const needy: Bucket[] = []
  for (const [id, { job, since }] of state.waitingHeads) {
    const bucket = state.buckets.get(id)
    if (bucket === undefined || bucket.shape.gpus === 0 || now.lease - since < PATIENCE_MS) continue
    if (!state.queued.has(job) || limitReason(state, bucket) !== null || isOnlyWarm(state, bucket)) continue
    needy.push(bucket)
  }
  return needy.sort((a, b) => b.priority - a.priority).slice(0, MOST_HEADS)
}

/** A session of a preset that no task waits for drives nobody away. */
function isOnlyWarm(state: State, { terms }: Bucket): boolean {
  const preset = terms.session?.preset ?? null
  return preset !== null && (state.targets.get(`preset:${preset}`)?.queued ?? 0) === 0
}

/** Null if ending sessions does not help there; empty if the job fits, or will once those that leave are gone. */
function victimsOn(
  state: State,
  worker: WorkerState,
  bucket: Bucket,
  chosen: ReadonlySet<number>,
  now: Now,
): readonly number[] | null {
  if (!isOpen(worker, now) || isCooling(worker, bucket.id, now) || !couldRun(bucket.shape, worker)) return null
  const room = new Room(worker, new Devices(state), 'later')
  const idle: SessionState[] = []
  for (const active of worker.active.values()) {
    const session = state.sessions.get(active.seq)
    if (session === undefined) continue
    if (active.cancelBy !== null || chosen.has(session.seq)) room.giveBack(active.claim)
    else if (isIdle(state, session) && priorityOf(state, active.bucket) <= bucket.priority) idle.push(session)
  }
  const victims: number[] = []
  idle.sort((a, b) => (a.activeAt ?? 0) - (b.activeAt ?? 0) || a.seq - b.seq)
  for (const { seq } of idle) {
    if (room.has(bucket.shape)) break
    const claim = state.active.get(seq)?.claim
    if (claim === undefined || claim.gpus.length === 0) continue
    room.giveBack(claim)
    victims.push(seq)
  }
  return room.has(bucket.shape) ? victims : null
}

/** Ready, without a task and without one that waits for it. */
function isIdle(state: State, { seq, id, terms, readyAt, places }: SessionState): boolean {
  const active = state.active.get(seq)
  if (active?.state !== 'running' || readyAt === null || places.size > 0) return false
  const waiting = (name: string) => (state.targets.get(name)?.queued ?? 0) > 0
  return !waiting(`session:${id}`) && (terms.preset === null || !waiting(`preset:${terms.preset}`))
}

function priorityOf(state: State, bucket: number): number {
  return state.buckets.get(bucket)?.priority ?? 0
}

function smallest(found: readonly (readonly number[] | null)[]): readonly number[] | null {
  let best: readonly number[] | null = null
  for (const victims of found) if (victims !== null && (best === null || victims.length < best.length)) best = victims
  return best
}
