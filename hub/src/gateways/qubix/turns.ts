/** What is about one worker happens one after the other, in the order it came. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  take<T>(who: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(who)
    const mine = before === undefined ? work() : before.then(work, work)
    this.#last.set(who, mine)
    const leave = () => {
      if (this.#last.get(who) === mine) this.#last.delete(who)
    }
    mine.then(leave, leave)
    return mine
  }

  /** How many are at work or wait. */
  get size(): number {
    return this.#last.size
  }
}
