import type { Timeline } from './timeline.ts'

/** One run of a program under virtual time: what it planned dies with it, and waits while it is paused. */
export class Process {
  readonly #timeline: Timeline
  #isAlive = true
  #isPaused = false
  #inbox: (() => void)[] = []

  constructor(timeline: Timeline) {
    this.#timeline = timeline
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  after(ms: number, run: () => void): void {
    this.#timeline.in(ms, run, this)
  }

  /** Runs now, or on waking up, or never. */
  enter(run: () => void): void {
    if (!this.#isAlive) return
    if (this.#isPaused) this.#inbox.push(run)
    else run()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    const waiting = this.#inbox
    this.#inbox = []
    for (const run of waiting) this.enter(run)
  }

  die(): void {
    this.#isAlive = false
    this.#inbox = []
  }
}
