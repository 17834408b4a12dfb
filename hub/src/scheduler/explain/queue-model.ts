import { Heap } from '../heap.ts'

/** What a job takes, or a worker has, as plain amounts; a shared device counts as the part of it that is taken. */
export interface Amounts {
  readonly slots: number
  readonly cpusMilli: number
  readonly memoryMb: number
  readonly gpus: number
}

/** Draws how long something will still take, in ms; infinite if nobody knows. */
export type Draw = (chance: () => number) => number

/** The part of the house that decides when one job starts: where it could run, what runs there, and who comes first. */
export interface QueueModel {
  readonly servers: readonly Amounts[]
  readonly running: readonly { readonly server: number; readonly takes: Amounts; readonly remaining: Draw }[]
  readonly ahead: readonly Others[]
  /** Smaller ones that come later: they start where there is no room for the job, until a worker is kept for it. */
  readonly behind: readonly Others[]
  readonly takes: Amounts
}

/** Jobs of one kind, and the servers that could run them. Kinds of one rank take turns as if their jobs had come evenly. */
export interface Others {
  readonly rank: number
  readonly jobs: number
  readonly takes: Amounts
  readonly lasts: Draw
  readonly fits: readonly boolean[]
}

interface Waiting {
  readonly of: Others
  readonly all: number
  left: number
  /** Lower ones start first; infinite when none is left. */
  turn: number
}

type Room = { -readonly [K in keyof Amounts]: number }

interface End {
  readonly at: number
  readonly server: number
  readonly takes: Amounts
}

/** Ends that are played through before the rest is reckoned from the rate so far. */
const MOST_ENDS = 160
/** When the scheduler keeps a worker for a job that is passed over. */
const KEPT_AFTER_MS = 60_000

/** One possible future: after how many ms the job starts. */
export function playOnce(model: QueueModel, chance: () => number): number {
  return new Play(model, chance).run()
}

class Play {
  readonly #model: QueueModel
  readonly #chance: () => number
  readonly #free: Room[]
  readonly #ahead: readonly Waiting[]
  readonly #behind: readonly Waiting[]
  readonly #ends = new Heap<End>((a, b) => a.at < b.at)
  readonly #total: number
  #started = 0

  constructor(model: QueueModel, chance: () => number) {
    this.#model = model
    this.#chance = chance
    this.#free = model.servers.map(server => ({ ...server }))
    // A part of a job stands for a chance of one.
    const whole = (of: Others): Waiting => {
      const left = Math.floor(of.jobs + chance())
      return { of, all: left, left, turn: turnOf(of, left, left) }
    }
    this.#ahead = model.ahead.map(whole)
    this.#behind = model.behind.map(whole)
    this.#total = this.#ahead.reduce((sum, { left }) => sum + left, 0)
  }

  run(): number {
    const { servers, running } = this.#model
    for (const { server, takes, remaining } of running) this.#push({ at: remaining(this.#chance), server, takes })
    for (let server = 0; server < servers.length; server += 1) if (this.#fill(server, 0)) return 0
    for (let ends = 0; ends < MOST_ENDS; ends += 1) {
      const end = this.#ends.top
      if (end === undefined) return Number.POSITIVE_INFINITY
      this.#ends.dropTop()
      move(this.#free[end.server], end.takes, 1)
      if (this.#fill(end.server, end.at)) return end.at
      if (ends === MOST_ENDS - 1) return this.#reckon(end.at)
    }
    return Number.POSITIVE_INFINITY
  }

  /** Those ahead first; true if the job itself starts there. */
  #fill(server: number, at: number): boolean {
    const free = this.#free[server]
    if (free === undefined) return false
    this.#started += this.#startAll(this.#ahead, server, free, at)
    if (has(free, this.#model.takes)) return true
    if (at < KEPT_AFTER_MS) this.#startAll(this.#behind, server, free, at)
    return false
  }

  #startAll(waiting: readonly Waiting[], server: number, free: Room, at: number): number {
    for (let started = 0; ; started += 1) {
      const first = firstThatFits(waiting, server, free)
      if (first === null) return started
      first.left -= 1
      first.turn = turnOf(first.of, first.all, first.left)
      move(free, first.of.takes, -1)
      this.#push({ at: at + first.of.lasts(this.#chance), server, takes: first.of.takes })
    }
  }

  #push(end: End): void {
    if (Number.isFinite(end.at)) this.#ends.push(end)
  }

  #reckon(at: number): number {
    return this.#started === 0 ? Number.POSITIVE_INFINITY : (at * (this.#total + 1)) / this.#started
  }
}

/** Every job takes a slot: without one nobody needs to be asked. */
function firstThatFits(waiting: readonly Waiting[], server: number, free: Room): Waiting | null {
  if (free.slots < 1) return null
  let first: Waiting | null = null
  let place = Number.POSITIVE_INFINITY
  for (const one of waiting) {
    if (one.turn >= place || one.of.fits[server] !== true || !has(free, one.of.takes)) continue
    first = one
    place = one.turn
  }
  return first
}

function turnOf({ rank }: Others, all: number, left: number): number {
  return left === 0 ? Number.POSITIVE_INFINITY : rank + (all - left + 0.5) / all
}

function has(free: Amounts, takes: Amounts): boolean {
  return (
    free.slots >= takes.slots &&
    free.cpusMilli >= takes.cpusMilli &&
    free.memoryMb >= takes.memoryMb &&
    free.gpus >= takes.gpus
  )
}

function move(free: Room | undefined, takes: Amounts, sign: 1 | -1): void {
  if (free === undefined) return
  free.slots += sign * takes.slots
  free.cpusMilli += sign * takes.cpusMilli
  free.memoryMb += sign * takes.memoryMb
  free.gpus += sign * takes.gpus
}
