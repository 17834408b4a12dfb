import type { Bucket, Now, WorkerState } from '../engine/state.ts'
import { Candidates, type Choice, OnlyRoom } from './candidates.ts'
import { hostsOf } from './claims-on.ts'
import { Devices } from './devices.ts'
import { isCooling, isOpen } from './door.ts'
import { FairShare } from './fair-share.ts'
import { FitByClass, looksAtEach } from './fit.ts'
import { chooseBeside, Holds, isStale } from './holds.ts'
import { Allowance } from './limits.ts'
import { Order } from './order.ts'
import type { Placement, Plan, View } from './policy.ts'
import { Pool, type RankFor } from './pool.ts'
import type { Reservation } from './reservation.ts'
import { reserve } from './reserve.ts'
import { Room } from './room.ts'

interface Entry {
  readonly bucket: Bucket
  /** What comes after the head; null until it is asked for. */
  younger: Iterator<number> | null
  /** A bucket with new jobs looks at every worker; one that waits already only at workers where something changed. */
  readonly isDirty: boolean
  readonly fit: FitByClass
  /** Null until its turn comes: by then many rooms are full and need no look. */
  rooms: Choice | null
  head: number
}

const LOOK_MS = 1000

/** Filters first, then scores: what a policy prefers can order workers, never admit one. */
export function planWith(rankFor: RankFor, view: View, now: Now): Plan {
  const { held } = view.reservations
  if (view.queued.size === 0) return nothing([])
  const fresh = held.length === 0 ? held : held.filter(reservation => !isStale(view, reservation, now))
  const isQuiet = view.dirtyBuckets.size === 0 && view.dirtyWorkers.size === 0 && fresh.length === held.length
  return isQuiet ? nothing(held) : new Pass(view, now, rankFor, fresh).run()
}

function nothing(reservations: readonly Reservation[]): Plan {
  return { placements: [], heads: new Map(), reservations, hasLooked: false, again: [] }
}

/** One look at what changed. */
class Pass {
  readonly #view: View
  readonly #now: Now
  readonly #rankFor: RankFor
  readonly #fair: FairShare
  readonly #devices: Devices
  readonly #holds: Holds
  readonly #hasLooked: boolean
  readonly #rooms = new Map<string, Room>()
  readonly #changed: Pool
  #open: Pool | null = null

  constructor(view: View, now: Now, rankFor: RankFor, held: readonly Reservation[]) {
    this.#view = view
    this.#now = now
    this.#rankFor = rankFor
    this.#fair = new FairShare(view, now)
    this.#devices = new Devices(view)
    this.#hasLooked = now.lease - view.reservations.lookedAt >= LOOK_MS
    this.#holds = new Holds(view, this.#hasLooked ? reserve(view, held, this.#fair, now) : held)
    this.#changed = new Pool(this.#changedRooms(), rankFor)
  }

  run(): Plan {
    const placements: Placement[] = []
    const entries = this.#entries()
    const allowance = new Allowance(this.#view)
    const heads = this.#headsNow(entries)
    const isAnyDirty = entries.some(({ isDirty }) => isDirty)
    const order = new Order(entries, owner => this.#fair.of(owner))
    for (let entry = order.first; entry !== undefined; entry = order.first) {
      const placement = allowance.admits(entry.bucket) ? this.#placeHead(entry) : null
      if (placement !== null) {
        placements.push(placement)
        allowance.take(entry.bucket)
        if (order.isShared) this.#fair.placed(entry.bucket.owner, entry.bucket.shape)
      }
      if (placement === null || !this.#advance(entry, heads)) order.drop()
      else order.advance()
      if (placement !== null && this.#isFull(isAnyDirty)) break
    }
    const reservations = this.#unmet(placements)
    return {
      placements,
      heads,
      reservations,
      hasLooked: this.#hasLooked,
      again: [...this.#freed(reservations), ...this.#given()],
    }
  }

  #unmet(placements: readonly Placement[]): readonly Reservation[] {
    const { reservations } = this.#holds
    if (reservations.length === 0) return reservations
    const placed = new Set(placements.map(({ job }) => job))
    return reservations.filter(({ job }) => !placed.has(job))
  }

  #entries(): Entry[] {
    const view = this.#view
    const changed = this.#changed.rooms
    const entries: Entry[] = []
    for (const id of view.queued.buckets()) {
      const isDirty = view.dirtyBuckets.has(id)
      if (!isDirty && changed.length === 0) continue
      const bucket = view.buckets.get(id)
      if (bucket === undefined || bucket.shape.target !== null) continue
      const fit = new FitByClass(bucket.shape)
      if (!isDirty && !changed.some(this.#usable(bucket, fit))) continue
      const head = view.queued.oldest(id)
      if (head !== null) entries.push({ bucket, younger: null, isDirty, fit, rooms: null, head })
    }
    return entries
  }

  #choice({ bucket, isDirty, fit }: Entry): Choice | null {
    const pool = isDirty ? this.#openPool() : this.#changed
    if (pool.rooms.length <= 1) return new OnlyRoom(pool.rooms[0], this.#usable(bucket, fit))
    return pool.mayHave(bucket.shape, fit) ? new Candidates(pool, bucket.shape, this.#usable(bucket, fit)) : null
  }

  #usable({ id, shape }: Bucket, fit: FitByClass): (room: Room) => boolean {
    return room => room.mayHave(shape) && !isCooling(room.worker, id, this.#now) && fit.with(room.worker)
  }

  /** The workers that others may look at again after reservations ended count as changed. */
  #changedRooms(): readonly Room[] {
    const before = this.#freed(this.#holds.reservations)
    const ids = before.length === 0 ? this.#view.dirtyWorkers : new Set([...this.#view.dirtyWorkers, ...before])
    return this.#roomsOf(ids)
  }

  #openPool(): Pool {
    this.#open ??= new Pool(this.#roomsOf(this.#worthALook()), this.#rankFor)
    return this.#open
  }

  /**
   * Every worker, but of idle ones that are alike only as many as new jobs and reservations could take, beside those that
   * have changed: on these, jobs that wait already may come first.
   */
  #worthALook(): Iterable<string> {
    const { workers, untouched, queued, dirtyBuckets, buckets } = this.#view
    let most = this.#holds.workers
    for (const id of dirtyBuckets) {
      const shape = buckets.get(id)?.shape
      if (shape !== undefined && looksAtEach(shape)) return workers.keys()
      most += queued.sizeOf(id)
    }
    if (most >= workers.size) return workers.keys()
    const changed = new Set(this.#changed.rooms.map(({ worker }) => worker.id))
    return untouched.some(most, changed, id => {
      const worker = workers.get(id)
      return worker !== undefined && isOpen(worker, this.#now)
    })
  }

  #roomsOf(ids: Iterable<string>): readonly Room[] {
    const rooms: Room[] = []
    for (const id of ids) {
      const room = this.#roomOf(this.#view.workers.get(id))
      if (room !== null) rooms.push(room)
    }
    return rooms
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

  #placeHead(entry: Entry): Placement | null {
    const { bucket, head } = entry
    entry.rooms ??= this.#choice(entry)
    const { rooms } = entry
    if (rooms === null) return null
    for (let room = rooms.best; room !== undefined; room = rooms.best) {
      const { id: worker } = room.worker
      const gpus = chooseBeside(room, bucket, this.#holds.on(worker), this.#now, head)
      if (gpus !== null) {
        this.#changed.taken()
        this.#open?.taken()
        return { job: head, bucket: bucket.id, worker, gpus }
      }
      rooms.dropBest()
    }
    return null
  }

  #advance(entry: Entry, heads: Map<number, number | null>): boolean {
    const { id } = entry.bucket
    if (entry.younger === null) {
      entry.younger = this.#view.queued.walk(id)
      entry.younger.next()
    }
    const next = entry.younger.next()
    heads.set(id, next.done === true ? null : next.value)
    if (next.done === true) return false
    entry.head = next.value
    return true
  }

  /** Nothing more can start, whoever comes next. */
  #isFull(isAnyDirty: boolean): boolean {
    return isAnyDirty ? this.#open?.isFull === true : this.#changed.isFull
  }

  /** Workers whose reservation is over, and those that share their devices. */
  #freed(reservations: readonly Reservation[]): string[] {
    if (this.#view.reservations.held.length === 0) return []
    const kept = new Set(reservations.map(({ bucket, worker }) => `${bucket} ${worker}`))
    const before = this.#view.reservations.held.filter(({ bucket, worker }) => !kept.has(`${bucket} ${worker}`))
    return before.flatMap(({ worker }) => [...hostsOf(this.#view, worker)])
  }

  #given(): string[] {
    return this.#holds.broken.flatMap(({ worker }) => [...hostsOf(this.#view, worker)])
  }

  #headsNow(entries: readonly Entry[]): Map<number, number | null> {
    const heads = new Map<number, number | null>()
    for (const id of this.#view.dirtyBuckets) heads.set(id, this.#view.queued.oldest(id))
    for (const { bucket, head } of entries) heads.set(bucket.id, head)
    return heads
  }
}
