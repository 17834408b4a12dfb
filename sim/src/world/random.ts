/** A small fast generator (sfc32): the same seed gives the same run on every machine. */
export class Random {
  #a: number
  #b: number
  #c = 0x9e3779b9 | 0
  #count = 1

  constructor(seed: number) {
    this.#a = seed | 0
    this.#b = Math.floor(seed / 2 ** 32) | 0
    for (let warmUp = 0; warmUp < 12; warmUp += 1) this.#bits()
  }

  /** At least 0, below 1. */
  next(): number {
    return this.#bits() / 2 ** 32
  }

  int(below: number): number {
    return Math.floor(this.next() * below)
  }

  /** Both ends included. */
  between(low: number, high: number): number {
    return low + this.int(high - low + 1)
  }

  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability
  }

  pick<T>(list: readonly T[]): T {
    const found = list[this.int(list.length)]
    if (found === undefined) throw new Error(`one of ${list.length} things was to be picked`)
    return found
  }

  /** Waiting times of things that happen on average every `meanMs`. */
  pauseMs(meanMs: number): number {
    return -Math.log(1 - this.next()) * meanMs
  }

  /** A generator of its own, so that one actor's draws do not shift another's. */
  fork(): Random {
    return new Random(this.#bits() * 2 ** 20 + (this.#bits() >>> 12))
  }

  #bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#count) | 0
    this.#count = (this.#count + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }
}
