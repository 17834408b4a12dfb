import type { Shape } from '@stoker/protocol'
import { Heap } from './heap.ts'
import type { Pool, Ranking } from './pool.ts'
import { isBetter, type Ranked } from './ranked-rooms.ts'
import type { Room } from './room.ts'

/** What one bucket may use, best first. */
export interface Choice {
  readonly best: Room | undefined
  /** It stays too small, so it need not be tried again. */
  dropBest(): void
}

/** Where only one worker changed there is nothing to rank. */
export class OnlyRoom implements Choice {
  readonly #isUsable: (room: Room) => boolean
  #room: Room | undefined

  constructor(room: Room | undefined, isUsable: (room: Room) => boolean) {
    this.#room = room
    this.#isUsable = isUsable
  }

  get best(): Room | undefined {
    return this.#room !== undefined && this.#isUsable(this.#room) ? this.#room : undefined
  }

  dropBest(): void {
    this.#room = undefined
  }
}

/** The rooms of a pool that one bucket may use, best first. What others did to a room since it was ranked is seen when its turn comes. */
export class Candidates implements Choice {
  readonly #pool: Pool
  readonly #shape: Shape
  readonly #isUsable: (room: Room) => boolean
  #ranking: Ranking
  #next = 0
  /** Those that were passed because their score has become a worse one. */
  #worse: Heap<Ranked> | null = null

  constructor(pool: Pool, shape: Shape, isUsable: (room: Room) => boolean) {
    this.#pool = pool
    this.#shape = shape
    this.#isUsable = isUsable
    this.#ranking = pool.rankedFor(shape)
  }

  get best(): Room | undefined {
    for (;;) {
      const best = this.#first()
      if (best === undefined) return undefined
      const score = this.#ranking.rank(best.room)
      if (score <= best.score) return best.room
      if (this.#rankAgain()) continue
      this.dropBest()
      this.#worse ??= new Heap<Ranked>(isBetter)
      this.#worse.push({ room: best.room, place: best.place, score })
    }
  }

  dropBest(): void {
    if (this.#worse !== null && this.#first() === this.#worse.top) this.#worse.dropTop()
    else this.#next += 1
  }

  #first(): Ranked | undefined {
    const { rooms } = this.#ranking
    let next = rooms.at(this.#next)
    while (next !== undefined && !this.#isUsable(next.room)) {
      this.#next += 1
      next = rooms.at(this.#next)
    }
    const top = this.#worse?.top
    return next === undefined || (top !== undefined && isBetter(top, next)) ? top : next
  }

  #rankAgain(): boolean {
    const fresh = this.#pool.rankedFor(this.#shape)
    if (fresh === this.#ranking) return false
    this.#ranking = fresh
    this.#next = 0
    this.#worse = null
    return true
  }
}
