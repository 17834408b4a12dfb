import type { State } from '../../engine/state.ts'

/** Sockets of one address, and of all, that have not said who they are; each has ten seconds for it. */
const MOST_OF_ONE = 64
const MOST_OF_ALL = 1024

export interface Credentials {
  readonly secretHash: string
  readonly joinHash: string | null
}

/** Whether these words open the door at all; what they open is decided when the worker says who it is. */
export function isKnown(state: State, { secretHash, joinHash }: Credentials): boolean {
  if (joinHash !== null && state.tokenByHash.has(joinHash)) return true
  for (const { facts } of state.workers.values()) if (facts.secretHash === secretHash) return true
  return false
}

/** Counts those at the door, so that they cannot fill the house. */
export class Strangers {
  readonly #byAddress = new Map<string, number>()
  #all = 0

  /** Call the answer when it has left or become known; null when there is no room. */
  enter(address: string): (() => void) | null {
    const here = this.#byAddress.get(address) ?? 0
    if (here >= MOST_OF_ONE || this.#all >= MOST_OF_ALL) return null
    this.#byAddress.set(address, here + 1)
    this.#all += 1
    let isGone = false
    return () => {
      if (isGone) return
      isGone = true
      this.#all -= 1
      const left = (this.#byAddress.get(address) ?? 1) - 1
      if (left === 0) this.#byAddress.delete(address)
      else this.#byAddress.set(address, left)
    }
  }
}
