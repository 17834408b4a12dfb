import { PING_MS } from './sse.ts'

/** When a stream that goes on has to show that it does: by its own clock, because what happens is not always something to say. */
export class SignsOfLife {
  #nextAt = performance.now() + PING_MS

  get nextInMs(): number {
    return Math.max(0, this.#nextAt - performance.now())
  }

  /** True once for each time that came. */
  isDue(): boolean {
    if (this.nextInMs > 0) return false
    this.#nextAt = performance.now() + PING_MS
    return true
  }
}
