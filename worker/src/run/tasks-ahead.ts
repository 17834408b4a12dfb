import { type Fence, fenceKey, type Offer } from '@stoker/protocol'

/** Tasks are given ahead only where they are short; one that has waited for so long stands behind a long one. */
const PATIENCE_MS = 1_000

/** Tasks that came before there was a place for them. When none could move on for a while they all go back: another session may be free. */
export class TasksAhead {
  readonly #giveBack: (offers: readonly Offer[]) => void
  #offers: Offer[] = []
  #patience: NodeJS.Timeout | undefined

  constructor(giveBack: (offers: readonly Offer[]) => void) {
    this.#giveBack = giveBack
  }

  get all(): readonly Offer[] {
    return this.#offers
  }

  add(offer: Offer): void {
    this.#offers.push(offer)
    if (this.#offers.length === 1) this.#wait()
  }

  /** The one that has waited longest. */
  next(): Offer | undefined {
    const offer = this.#offers.shift()
    if (offer !== undefined) this.#wait()
    return offer
  }

  /** It waits no longer; null when it did not. */
  remove(fence: Fence): Offer | null {
    const at = this.#offers.findIndex(offer => fenceKey(offer.fence) === fenceKey(fence))
    const [offer = null] = at === -1 ? [] : this.#offers.splice(at, 1)
    if (this.#offers.length === 0) clearTimeout(this.#patience)
    return offer
  }

  removeAll(): readonly Offer[] {
    clearTimeout(this.#patience)
    return this.#offers.splice(0)
  }

  #wait(): void {
    clearTimeout(this.#patience)
    if (this.#offers.length > 0) this.#patience = setTimeout(() => this.#giveBack(this.removeAll()), PATIENCE_MS)
  }
}
