import type { RunTimeBook, RunTimes } from '../../engine/run-times.ts'
import type { Bucket } from '../../engine/state.ts'
import type { Draw } from './queue-model.ts'

const NEVER: Draw = () => Number.POSITIVE_INFINITY

/** How long jobs will take, from what was seen of such jobs or else from their timeouts; remembers what it was asked for. */
export class Forecast {
  readonly #book: RunTimeBook
  readonly #used = new Set<RunTimes>()
  #hasTimeouts = false
  #hasGaps = false

  constructor(book: RunTimeBook) {
    this.#book = book
  }

  get runs(): number {
    let runs = 0
    for (const times of this.#used) runs += times.seen
    return runs
  }

  /** Where the figures come from, in words. */
  get basis(): string {
    const { runs } = this
    const parts = [
      runs === 0 ? '' : `${runs} ${runs === 1 ? 'run' : 'runs'} of such jobs`,
      this.#hasTimeouts ? (runs === 0 ? 'their timeouts' : 'the timeouts of others') : '',
    ].filter(part => part !== '')
    if (parts.length === 0) return this.#hasGaps ? 'no history' : 'nothing to wait for'
    return `from ${parts.join(' and ')}${this.#hasGaps ? ', some without history' : ''}`
  }

  /** Why there are no figures. */
  get gap(): string {
    if (!this.#hasGaps) return 'nothing whose end is foreseen would make room for it'
    return this.runs === 0 && !this.#hasTimeouts ? 'no history' : 'no history of some jobs before it'
  }

  lasts(bucket: Bucket): Draw {
    return this.remaining(bucket, 0)
  }

  remaining(bucket: Bucket, age: number): Draw {
    const times = this.#book.of(bucket)
    const { timeoutMs } = bucket.terms
    if (times !== null) {
      this.#used.add(times)
      const draw = times.longerThan(age)
      return chance => (draw === null ? outlier(age, chance) : draw(chance())) - age
    }
    if (timeoutMs === null) {
      this.#hasGaps = true
      return NEVER
    }
    this.#hasTimeouts = true
    return chance => Math.max(0, timeoutMs - age) * chance()
  }
}

/** It has run longer than any before it: it may take about as long again. */
function outlier(age: number, chance: () => number): number {
  return age - age * Math.log(1 - chance())
}
