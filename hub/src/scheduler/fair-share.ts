import type { Shape } from '@stoker/protocol'
import { averageAt, dominantShare, type Taken } from '../engine/owner-use.ts'
import type { Now } from '../engine/state.ts'
import type { View } from './policy.ts'

interface Standing {
  readonly average: number
  readonly taken: Taken
  standing: number
}

/** Who comes first among equals in priority: the owner that had least of the fleet lately and has least of it now. Standings only rise within a pass. */
export class FairShare {
  readonly #view: View
  readonly #now: Now
  /** Null until someone's standing is asked for: most passes know one owner only. */
  #standings: Map<string, Standing> | null = null

  constructor(view: View, now: Now) {
    this.#view = view
    this.#now = now
  }

  of(owner: string): number {
    return this.#standingOf(owner).standing
  }

  /** Another job of the owner starts in this pass. */
  placed(owner: string, { gpus, gpuSharing, gpuMemoryMb, cpusMilli, memoryMb }: Shape): void {
    const known = this.#standingOf(owner)
    const { taken } = known
    taken.slots += 1
    taken.cpusMilli += cpusMilli
    taken.memoryMb += memoryMb
    if (gpuSharing === 'shared') taken.gpuMemoryMb += gpus * gpuMemoryMb
    else taken.gpus += gpus
    known.standing = known.average + dominantShare(taken, this.#view.fleet)
  }

  #standingOf(owner: string): Standing {
    const known = this.#standings?.get(owner)
    if (known !== undefined) return known
    const use = this.#view.ownerUses.get(owner)
    const fleet = this.#view.fleet
    const average = use === undefined ? 0 : averageAt(use, fleet, this.#now.wall)
    const taken =
      use === undefined ? { cpusMilli: 0, memoryMb: 0, gpus: 0, gpuMemoryMb: 0, slots: 0, devices: 0 } : { ...use.now }
    const fresh = { average, taken, standing: average + dominantShare(taken, fleet) }
    this.#standings ??= new Map()
    this.#standings.set(owner, fresh)
    return fresh
  }
}
