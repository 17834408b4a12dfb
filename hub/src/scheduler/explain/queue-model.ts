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
  readonly ahead: readonly {
    readonly jobs: number
    readonly takes: Amounts
    readonly lasts: Draw
    readonly fits: readonly boolean[]
  }[]
  readonly takes: Amounts
}

interface End {
  readonly at: number
  readonly server: number
  readonly takes: Amounts
}

/** Ends that are played through before the rest is reckoned from the rate so far. */
const MOST_ENDS = 250

/** One possible future: after how many ms the job starts. */
export function playOnce(model: QueueModel, chance: () => number): number {
  return new Play(model, chance).run()
}

class Play {
  readonly #model: QueueModel
  readonly #chance: () => number
  readonly #free: { -readonly [K in keyof Amounts]: number }[]
  readonly #left: number[]
  readonly #ends = new Heap<End>((a, b) => a.at < b.at)
  readonly #total: number
  #started = 0

  constructor(model: QueueModel, chance: () => number) {
    this.#model = model
    this.#chance = chance
    this.#free = model.servers.map(server => ({ ...server }))
    // A part of a job stands for a chance of one.
    this.#left = model.ahead.map(({ jobs }) => Math.floor(jobs + chance()))
    this.#total = this.#left.reduce((sum, jobs) => sum + jobs, 0)
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
    for (const [index, { takes, lasts, fits }] of this.#model.ahead.entries()) {
      while ((this.#left[index] ?? 0) > 0 && fits[server] === true && has(free, takes)) {
        this.#left[index] = (this.#left[index] ?? 0) - 1
        this.#started += 1
        move(free, takes, -1)
        this.#push({ at: at + lasts(this.#chance), server, takes })
      }
    }
    return has(free, this.#model.takes)
  }

  #push(end: End): void {
    if (Number.isFinite(end.at)) this.#ends.push(end)
  }

  #reckon(at: number): number {
    return this.#started === 0 ? Number.POSITIVE_INFINITY : (at * (this.#total + 1)) / this.#started
  }
}

function has(free: Amounts, takes: Amounts): boolean {
  return (
    free.slots >= takes.slots &&
    free.cpusMilli >= takes.cpusMilli &&
    free.memoryMb >= takes.memoryMb &&
    free.gpus >= takes.gpus
  )
}

function move(free: { -readonly [K in keyof Amounts]: number } | undefined, takes: Amounts, sign: 1 | -1): void {
  if (free === undefined) return
  free.slots += sign * takes.slots
  free.cpusMilli += sign * takes.cpusMilli
  free.memoryMb += sign * takes.memoryMb
  free.gpus += sign * takes.gpus
}
