/** Tasks of one name run one after the other, those of different names side by side. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  run<T>(name: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve()
    const turn = before.then(task, task)
    const done = turn.catch(() => undefined)
    this.#last.set(name, done)
    void done.then(() => {
      if (this.#last.get(name) === done) this.#last.delete(name)
    })
    return turn
  }

  isBusy(name: string): boolean {
    return this.#last.has(name)
  }
}
