/** The share of the newest commit in the usual time: some ten commits decide. */
const NEWEST = 0.2
/** A loop that is kept from its work longer than this is felt by everyone; half of it means that the disk is well again. */
const SLOW_MS = 3

/** Where small commits belong: on the main thread, which is quicker, except while the disk takes so long to sync that the main thread would stand still. */
export class CommitPlace {
  #usualMs = 0
  #isSlow = false

  get isMain(): boolean {
    return !this.#isSlow
  }

  took(ms: number): void {
    this.#usualMs += NEWEST * (ms - this.#usualMs)
    this.#isSlow = this.#usualMs > (this.#isSlow ? SLOW_MS / 2 : SLOW_MS)
  }
}
