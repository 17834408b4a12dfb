/** A binary heap whose order is given from outside; the smallest is on top. */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #isBefore: (a: T, b: T) => boolean

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore
  }

  get top(): T | undefined {
    return this.#items[0]
  }

  get items(): readonly T[] {
    return this.#items
  }

  push(item: T): void {
    const items = this.#items
    let at = items.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#swapIfBefore(at, parent)) return
      at = parent
    }
  }

  dropTop(): void {
    const last = this.#items.pop()
    if (last === undefined || this.#items.length === 0) return
    this.#items[0] = last
    this.sinkTop()
  }

  /** The top's place in the order has become a later one. */
  sinkTop(): void {
    const { length } = this.#items
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      if (left >= length) return
      const child = left + 1 < length && this.#comesFirst(left + 1, left) ? left + 1 : left
      if (!this.#swapIfBefore(child, at)) return
      at = child
    }
  }

  #comesFirst(a: number, b: number): boolean {
    const first = this.#items[a]
    const second = this.#items[b]
    return first !== undefined && second !== undefined && this.#isBefore(first, second)
  }

  #swapIfBefore(a: number, b: number): boolean {
    const first = this.#items[a]
    const second = this.#items[b]
    if (first === undefined || second === undefined || !this.#isBefore(first, second)) return false
    this.#items[a] = second
    this.#items[b] = first
    return true
  }
}
