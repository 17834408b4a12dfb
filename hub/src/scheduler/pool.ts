import type { Shape } from '@stoker/protocol'
import type { WorkerState } from '../engine/state.ts'
import { type FitByClass, looksAtEach } from './fit.ts'
import { type Rank, RankedRooms } from './ranked-rooms.ts'
import type { Most, Room } from './room.ts'

/** How a policy ranks rooms for a shape; shapes that are ranked alike get the same function. Within a pass a score may only get worse, or matter less, as a room fills. */
export type RankFor = (shape: Shape) => Rank

/** More than any score: preferred tags come first. */
const PER_TAG = 1e6
/** More than any tags: nobody waits for a GPU that may not be there while a real one is free. */
const UNREAL = 1e9

export interface Ranking {
  readonly rank: Rank
  readonly rooms: RankedRooms
  readonly takenBefore: number
}

/** Workers that fit alike, with the most that one of them had left when they were looked at. */
interface Class {
  readonly worker: WorkerState
  readonly most: Most
}

/** Rooms that buckets look at in one pass, ranked once for all that rank alike. */
export class Pool {
  readonly #rankFor: RankFor
  readonly #rankings = new Map<Rank, Map<string, Ranking>>()
  #rooms: readonly Room[]
  #classes: readonly Class[] | null = null
  #taken = 0
  /** All rooms before it are full, and stay so. */
  #firstOpen = 0

  constructor(rooms: readonly Room[], rankFor: RankFor) {
    this.#rooms = rooms
    this.#rankFor = rankFor
  }

  get rooms(): readonly Room[] {
    return this.#rooms
  }

  get isFull(): boolean {
    while (this.#rooms[this.#firstOpen]?.slots === 0) this.#firstOpen += 1
    return this.#firstOpen >= this.#rooms.length
  }

  /** Whether a room may have what a shape takes: one look at each class instead of one at each room. */
  mayHave(shape: Shape, fit: FitByClass): boolean {
    if (looksAtEach(shape)) return true
    this.#classes ??= classesOf(this.#rooms)
    return this.#classes.some(({ worker, most }) => reaches(most, shape) && fit.with(worker))
  }

  /** A job was placed: what is known of the rooms gets older. */
  taken(): void {
    this.#taken += 1
  }

  /** Ranked again after so many placements that those who meet them would pay as much as the ranking costs. */
  rankedFor(shape: Shape): Ranking {
    const plain = this.#rankFor(shape)
    const tags = `${shape.gpus > 0 ? 'gpu ' : ''}${shape.preferTags.join(' ')}`
    const byTags = this.#rankings.get(plain) ?? new Map<string, Ranking>()
    const known = byTags.get(tags)
    if (known !== undefined && (this.#taken - known.takenBefore) ** 2 <= 2 * this.#rooms.length) return known
    const rank =
      tags === '' ? plain : (room: Room) => plain(room) - PER_TAG * preferredTags(shape, room) + doubt(shape, room)
    this.#rooms = this.#rooms.filter(room => room.slots > 0)
    this.#firstOpen = 0
    this.#classes = null
    const fresh = { rank, rooms: new RankedRooms(this.#rooms, rank), takenBefore: this.#taken }
    this.#rankings.set(plain, byTags.set(tags, fresh))
    return fresh
  }
}

function classesOf(rooms: readonly Room[]): readonly Class[] {
  const classes = new Map<string, Class>()
  for (const room of rooms) {
    const { worker } = room
    const known = classes.get(worker.classKey) ?? {
      worker,
      most: { cpusMilli: 0, memoryMb: 0, exclusive: 0, shared: 0 },
    }
    room.raise(known.most)
    classes.set(worker.classKey, known)
  }
  return [...classes.values()]
}

function reaches(most: Most, { cpusMilli, memoryMb, gpus, gpuSharing }: Shape): boolean {
  return most.cpusMilli >= cpusMilli && most.memoryMb >= memoryMb && most[gpuSharing] >= gpus
}

function doubt({ gpus }: Shape, { worker }: Room): number {
  return gpus > 0 && worker.facts.hardware.gpus.some(({ simulated }) => simulated) ? UNREAL : 0
}

function preferredTags({ preferTags }: Shape, { worker }: Room): number {
  return preferTags.filter(tag => worker.facts.tags.includes(tag)).length
}
