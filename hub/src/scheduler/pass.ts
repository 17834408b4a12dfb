import type { Shape } from '@stoker/protocol'
import type { Bucket, Now, WorkerState } from '../engine/state.ts'
import { hostsOf } from './claims-on.ts'
import { Devices } from './devices.ts'
import { isCooling, isOpen } from './door.ts'
import { FairShare } from './fair-share.ts'
import { couldRun, looksAtNames } from './fit.ts'
import { Heap } from './heap.ts'
import { chooseBeside, Holds, isStale } from './holds.ts'
import { Allowance } from './limits.ts'
import { Order } from './order.ts'
import type { Placement, Plan, View } from './policy.ts'
import type { Reservation } from './reservation.ts'
import { reserve } from './reserve.ts'
import { Room } from './room.ts'

/** Lower is better; within a pass a score may only get worse, or matter less, as a room fills. */
export type Score = (room: Room, shape: Shape) => number

interface Candidate {
  readonly room: Room
  readonly preferred: number
  score: number
}

interface Entry {
  readonly bucket: Bucket
  readonly jobs: Iterator<number>
  /** Null until its turn comes: by then many rooms are full and need no look. */
  rooms: Heap<Candidate> | null
  head: number
}

const LOOK_MS = 1000
const NOTHING: Omit<Plan, 'reservations'> = { placements: [], heads: new Map(), hasLooked: false, again: [] }

/** Filters first, then scores: what a policy prefers can order workers, never admit one. */
export function planWith(score: Score, view: View, now: Now): Plan {
  const { held } = view.reservations
  if (view.queued.size === 0) return { ...NOTHING, reservations: [] }
  const fresh = held.filter(reservation => !isStale(view, reservation, now))
  const isQuiet = view.dirtyBuckets.size === 0 && view.dirtyWorkers.size === 0 && fresh.length === held.length
  return isQuiet ? { ...NOTHING, reservations: held } : new Pass(view, now, score, fresh).run()
}

/** One look at what changed. */
class Pass {
  readonly #view: View
  readonly #now: Now
  readonly #score: Score
  readonly #fair: FairShare
  readonly #devices: Devices
  readonly #holds: Holds
  readonly #hasLooked: boolean
  readonly #rooms = new Map<string, Room>()
  #open: readonly Room[] | null = null

  constructor(view: View, now: Now, score: Score, held: readonly Reservation[]) {
    this.#view = view
    this.#now = now
    this.#score = score
    this.#fair = new FairShare(view, now)
    this.#devices = new Devices(view)
    this.#hasLooked = now.lease - view.reservations.lookedAt >= LOOK_MS
    this.#holds = new Holds(view, this.#hasLooked ? reserve(view, held, this.#fair, now) : held)
  }

  run(): Plan {
    const placements: Placement[] = []
    const entries = this.#entries()
    const allowance = new Allowance(this.#view)
    const heads = this.#headsNow(entries)
    const order = new Order(entries, owner => this.#fair.of(owner))
    for (let entry = order.first; entry !== undefined; entry = order.first) {
      const placement = allowance.admits(entry.bucket) ? this.#placeHead(entry) : null
      if (placement !== null) {
        placements.push(placement)
        allowance.take(entry.bucket)
      }
      if (placement === null || !advance(entry, heads)) order.drop()
      else order.advance()
    }
    const placed = new Set(placements.map(({ job }) => job))
    const reservations = this.#holds.reservations.filter(({ job }) => !placed.has(job))
    return { placements, heads, reservations, hasLooked: this.#hasLooked, again: this.#freed(reservations) }
  }

  #entries(): Entry[] {
    const view = this.#view
    const changed = this.#changedRooms()
    const entries: Entry[] = []
    for (const id of view.queued.buckets()) {
      const isDirty = view.dirtyBuckets.has(id)
      if (!isDirty && changed.length === 0) continue
      const bucket = view.buckets.get(id)
      if (bucket === undefined) continue
      const rooms = isDirty ? null : this.#candidates(bucket, changed)
      if (!isDirty && rooms?.top === undefined) continue
      const jobs = view.queued.walk(id)
      const head = jobs.next()
      if (head.done !== true) entries.push({ bucket, jobs, rooms, head: head.value })
    }
    return entries
  }

  /** A bucket with new jobs looks at every worker; one that waits already looks only at workers where something changed. */
  #candidates(bucket: Bucket, pool: readonly Room[]): Heap<Candidate> {
    const { shape } = bucket
    const fits = new Map<string, boolean>()
    const found = new Heap<Candidate>(isBetter)
    for (const room of pool) {
      const { worker } = room
      if (!room.mayHave(shape) || isCooling(worker, bucket.id, this.#now)) continue
      const look = looksAtNames(shape) ? worker.id : worker.classKey
      const isFit = fits.get(look) ?? couldRun(shape, worker)
      if (pool.length > 1) fits.set(look, isFit)
      if (!isFit) continue
      found.push({ room, preferred: preferredTags(shape, worker), score: this.#score(room, shape) })
    }
    return found
  }

  /** The workers that others may look at again after reservations ended count as changed. */
  #changedRooms(): readonly Room[] {
    const before = this.#freed(this.#holds.reservations)
    const ids = before.length === 0 ? this.#view.dirtyWorkers : new Set([...this.#view.dirtyWorkers, ...before])
    return [...ids].flatMap(id => this.#roomOf(this.#view.workers.get(id)) ?? [])
  }

  #openRooms(): readonly Room[] {
    this.#open ??= [...this.#view.workers.values()].flatMap(worker => this.#roomOf(worker) ?? [])
    return this.#open
  }

  #roomOf(worker: WorkerState | undefined): Room | null {
    if (worker === undefined || worker.slotsFree < 1 || !isOpen(worker, this.#now)) return null
    const known = this.#rooms.get(worker.id)
    if (known !== undefined) return known
    const room = new Room(worker, this.#devices)
    if (room.slots < 1) return null
    this.#rooms.set(worker.id, room)
    return room
  }

  /** A room that was too small for this shape stays too small, so it need not be tried again. */
  #placeHead(entry: Entry): Placement | null {
    const { bucket, head } = entry
    const { shape } = bucket
    entry.rooms ??= this.#candidates(bucket, this.#openRooms())
    const { rooms } = entry
    for (let best = rooms.top; best !== undefined; best = rooms.top) {
      const score = this.#score(best.room, shape)
      if (score > best.score) {
        best.score = score
        rooms.sinkTop()
        continue
      }
      const hold = this.#holds.on(best.room.worker.id)
      const gpus = chooseBeside(best.room, bucket, hold, this.#now, head)
      if (gpus !== null) {
        this.#fair.placed(bucket.owner, shape)
        return { job: head, bucket: bucket.id, worker: best.room.worker.id, gpus }
      }
      rooms.dropTop()
    }
    return null
  }

  /** Workers whose reservation is over, and those that share their devices. */
  #freed(reservations: readonly Reservation[]): string[] {
    const kept = new Set(reservations.map(({ bucket, worker }) => `${bucket} ${worker}`))
    const before = this.#view.reservations.held.filter(({ bucket, worker }) => !kept.has(`${bucket} ${worker}`))
    return before.flatMap(({ worker }) => [...hostsOf(this.#view, worker)])
  }

  #headsNow(entries: readonly Entry[]): Map<number, number | null> {
    const heads = new Map<number, number | null>()
    for (const id of this.#view.dirtyBuckets) heads.set(id, this.#view.queued.oldest(id))
    for (const { bucket, head } of entries) heads.set(bucket.id, head)
    return heads
  }
}

function advance(entry: Entry, heads: Map<number, number | null>): boolean {
  const next = entry.jobs.next()
  heads.set(entry.bucket.id, next.done === true ? null : next.value)
  if (next.done === true) return false
  entry.head = next.value
  return true
}

function preferredTags({ preferTags }: Shape, { facts }: WorkerState): number {
  return preferTags.length === 0 ? 0 : preferTags.filter(tag => facts.tags.includes(tag)).length
}

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.preferred !== b.preferred) return a.preferred > b.preferred
  return a.score === b.score ? a.room.worker.id < b.room.worker.id : a.score < b.score
}
