import { Heap } from './heap.ts'
import type { Room } from './room.ts'

/** Lower is better. */
export type Rank = (room: Room) => number

/** A room with the score it had when it was looked at; of equal scores the lower place comes first. */
export interface Ranked {
  readonly room: Room
  readonly place: number
  readonly score: number
}

/** Rooms as they stood at one moment, best first; sorted only as far as anyone reads, and shared by all who rank alike. */
export class RankedRooms {
  readonly #rest = new Heap<Ranked>(isBetter)
  readonly #sorted: Ranked[] = []

  constructor(rooms: readonly Room[], rank: Rank) {
    rooms.forEach((room, place) => {
      this.#rest.push({ room, place, score: rank(room) })
    })
  }

  at(index: number): Ranked | undefined {
    while (this.#sorted.length <= index) {
      const { top } = this.#rest
      if (top === undefined) return undefined
      this.#sorted.push(top)
      this.#rest.dropTop()
    }
    return this.#sorted[index]
  }
}

export function isBetter(a: Ranked, b: Ranked): boolean {
  return a.score === b.score ? a.place < b.place : a.score < b.score
}
