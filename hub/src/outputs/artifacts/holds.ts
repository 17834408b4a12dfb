/** Who needs which content while it decides, and what is being removed: neither meets the other. */
export class Holds {
  readonly #held = new Map<string, number>()
  readonly #dying = new Map<string, Promise<void>>()

  /** Waits for removals under way, then keeps the names from being removed. */
  async take(names: readonly string[]): Promise<() => void> {
    for (let wait = this.#removals(names); wait.length > 0; wait = this.#removals(names)) await Promise.all(wait)
    for (const name of names) this.#held.set(name, (this.#held.get(name) ?? 0) + 1)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      for (const name of names) this.#release(name)
    }
  }

  /** Runs the removal of those nobody holds; whoever asks for them meanwhile waits for its end. */
  async removing(names: readonly string[], remove: (free: ReadonlySet<string>) => Promise<void>): Promise<void> {
    const free = new Set(names.filter(name => !this.#held.has(name) && !this.#dying.has(name)))
    const work = remove(free)
    const over = work.then(
      () => undefined,
      () => undefined,
    )
    for (const name of free) this.#dying.set(name, over)
    try {
      await work
    } finally {
      for (const name of free) this.#dying.delete(name)
    }
  }

  #removals(names: readonly string[]): Promise<void>[] {
    return names.flatMap(name => this.#dying.get(name) ?? [])
  }

  #release(name: string): void {
    const left = (this.#held.get(name) ?? 1) - 1
    if (left === 0) this.#held.delete(name)
    else this.#held.set(name, left)
  }
}
