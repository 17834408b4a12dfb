import type { OutputPiece } from '../../outputs/port.ts'
import { LineEvents, type TaskEvent } from './line-events.ts'
import type { AttemptFacts } from './task-record.ts'

/**
 * One attempt as it is told: `opening`, then `worker created` if its program ever started, then its lines.
 * Output may be seen a moment before it is known that the program runs: it waits until that is known, so that
 * every replay has the same order.
 */
export class ToldAttempt {
  readonly number: number
  readonly #opening: (facts: AttemptFacts) => TaskEvent | null
  readonly #created: ((facts: AttemptFacts) => TaskEvent) | null
  readonly #lines = new LineEvents()
  #held: OutputPiece[] = []
  #isOpened = false
  #isStarted = false

  constructor(
    number: number,
    {
      opening,
      created,
    }: {
      readonly opening: (facts: AttemptFacts) => TaskEvent | null
      readonly created: ((facts: AttemptFacts) => TaskEvent) | null
    },
  ) {
    this.number = number
    this.#opening = opening
    this.#created = created
  }

  get isOpened(): boolean {
    return this.#isOpened
  }

  get needsFacts(): boolean {
    return !this.#isStarted
  }

  learn(facts: AttemptFacts): TaskEvent[] {
    const events: TaskEvent[] = []
    if (!this.#isOpened) {
      this.#isOpened = true
      const opening = this.#opening(facts)
      if (opening !== null) events.push(opening)
    }
    if (this.#isStarted || (facts.runningAt === null && !facts.isFinal)) return events
    this.#isStarted = true
    if (facts.runningAt !== null && this.#created !== null) events.push(this.#created(facts))
    const held = this.#held
    this.#held = []
    return [...events, ...held.flatMap(piece => this.#lines.push(piece))]
  }

  push(pieces: readonly OutputPiece[]): TaskEvent[] {
    if (this.#isStarted) return pieces.flatMap(piece => this.#lines.push(piece))
    this.#held.push(...pieces)
    return []
  }

  end(): TaskEvent[] {
    return this.#lines.end()
  }
}
