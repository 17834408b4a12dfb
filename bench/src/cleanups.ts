/** What must be undone at the end, last first; each is undone once, and one failure does not spare the others. */
export class Cleanups {
  readonly #undo: (() => Promise<void>)[] = []

  add(undo: () => Promise<void>): void {
    this.#undo.push(undo)
  }

  async runAll(): Promise<void> {
    const failures: unknown[] = []
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) {
      await undo().catch(error => failures.push(error))
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} things were not cleaned up`)
  }
}
