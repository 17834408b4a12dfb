import type { Shape } from '@stoker/protocol'
import type { WorkerState } from '../engine/state.ts'
import { type FitByClass, looksAtEach } from './fit.ts'
import { isWarm, warmthKey } from './program-fit.ts'
import { type Rank, RankedRooms } from './ranked-rooms.ts'
import type { Most, Room } from './room.ts'

/** How a policy ranks rooms for a shape; shapes that are ranked alike get the same function. Within a pass a score may only get worse, or matter less, as a room fills. */
export type RankFor = (shape: Shape) => Rank

/** More than any score: preferred tags come first, then those who need not install anything. */
const PER_TAG = 1e6
/** More than any tags: nobody waits for a GPU that may not be there while a real one is free. */
const UNREAL = 1e9
const FOR_WARMTH = 1e5

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
  /** Null until someone ranks. */
  #rankings: Map<Rank, Map<string, Ranking>> | null = null
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
    const wishes = `${shape.gpus > 0 ? 'gpu ' : ''}${shape.preferTags.join(' ')}|${warmthKey(shape)}`
    this.#rankings ??= new Map()
    const byWishes = this.#rankings.get(plain) ?? new Map<string, Ranking>()
    const known = byWishes.get(wishes)
    if (known !== undefined && (this.#taken - known.takenBefore) ** 2 <= 2 * this.#rooms.length) return known
    const rank = wishes === '|' ? plain : (room: Room) => plain(room) - liking(shape, room)
    this.#rooms = this.#rooms.filter(room => room.slots > 0)
    this.#firstOpen = 0
    this.#classes = null
    const fresh = { rank, rooms: new RankedRooms(this.#rooms, rank), takenBefore: this.#taken }
    this.#rankings.set(plain, byWishes.set(wishes, fresh))
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

/** How much better a room is than its score says. */
function liking(shape: Shape, { worker: { facts } }: Room): number {
  const tags = shape.preferTags.filter(tag => facts.tags.includes(tag)).length
  const isUnreal = shape.gpus > 0 && facts.hardware.gpus.some(({ simulated }) => simulated)
  return PER_TAG * tags + (isWarm(shape, facts.abilities) ? FOR_WARMTH : 0) - (isUnreal ? UNREAL : 0)
}
