import { hash } from 'node:crypto'
import type { State, WorkerFacts, WorkerState } from './state.ts'

interface Known {
  readonly id: string
  readonly kind: string
  /** In the order in which they joined. */
  readonly place: number
}

/**
 * Workers with nothing on them, by kind. Those of one kind are interchangeable, so that a plan need not look at more of
 * them than it can use; all others are worth a look of their own.
 */
export class UntouchedWorkers {
  readonly #known = new Map<string, Known>()
  /** Of each kind those that are untouched, in order. */
  readonly #kinds = new Map<string, Known[]>()
  readonly #touched = new Set<Known>()
  #joined = 0

  /** With something on it until the contrary is said. Who is there already keeps its place. */
  join({ id, facts, classKey }: Pick<WorkerState, 'id' | 'facts' | 'classKey'>): void {
    const place = this.#known.get(id)?.place ?? this.#joined++
    this.leave(id)
    const known = { id, kind: kindOf(facts, classKey), place }
    this.#known.set(id, known)
    this.#touched.add(known)
  }

  leave(id: string): void {
    const known = this.#known.get(id)
    if (known === undefined) return
    this.#touch(known)
    this.#touched.delete(known)
    this.#known.delete(id)
  }

  has(id: string): boolean {
    const known = this.#known.get(id)
    return known !== undefined && !this.#touched.has(known)
  }

  note(id: string, isUntouched: boolean): void {
    const known = this.#known.get(id)
    if (known === undefined || this.#touched.has(known) !== isUntouched) return
    if (isUntouched) this.#rest(known)
    else this.#touch(known)
  }

  /** All that are touched or asked for by name, and of each kind as many others as can be used, in order. */
  some(most: number, named: ReadonlySet<string>, isUsable: (id: string) => boolean): readonly string[] {
    const found = [...this.#touched]
    for (const alike of this.#kinds.values()) {
      let left = most
      for (const known of alike) {
        if (left === 0) break
        if (named.has(known.id) || !isUsable(known.id)) continue
        found.push(known)
        left -= 1
      }
    }
    for (const id of named) {
      const known = this.#known.get(id)
      if (known !== undefined && !this.#touched.has(known)) found.push(known)
    }
    return found.sort((a, b) => a.place - b.place).map(({ id }) => id)
  }

  #rest(known: Known): void {
    this.#touched.delete(known)
    const alike = this.#kinds.get(known.kind)
    if (alike === undefined) this.#kinds.set(known.kind, [known])
    else alike.splice(placeOf(known, alike), 0, known)
  }

  #touch(known: Known): void {
    if (this.#touched.has(known)) return
    this.#touched.add(known)
    const alike = this.#kinds.get(known.kind) ?? []
    alike.splice(placeOf(known, alike), 1)
    if (alike.length === 0) this.#kinds.delete(known.kind)
  }
}

/** To be called whenever one of the things it looks at has changed. */
export function noteTouch(state: State, worker: WorkerState): void {
  state.untouched.note(worker.id, isUntouched(state, worker))
}

/** Nobody has, or may take by way of another worker, anything of it or of its devices, and it rests from nothing. */
export function isUntouched(state: State, worker: WorkerState): boolean {
  const { facts } = worker
  return (
    facts.dialect === undefined &&
    worker.slotsFree === facts.maxJobs &&
    worker.cpusMilliFree === facts.cpusMilli &&
    worker.memoryMbFree === facts.memoryMb &&
    worker.coolDown.size === 0 &&
    facts.hardware.gpus.every(({ uuid }) => isWhole(state, uuid))
  )
}

function isWhole({ devices, quarantined, deviceNews, fleet }: State, uuid: string): boolean {
  if (devices.has(uuid) || quarantined.has(uuid) || fleet.isShared(uuid)) return false
  const news = deviceNews.get(uuid)
  return news === undefined || (news.fault === null && (news.foreignMb ?? 0) === 0)
}

/** Everything by which a plan may fit, rank and fill idle workers: more than their class, by what is installed. Short, as every worker has one. */
function kindOf(facts: WorkerFacts, classKey: string): string {
  const { environments, types } = facts.abilities
  const areUnreal = facts.hardware.gpus.map(({ simulated }) => simulated)
  return hash('sha256', JSON.stringify([classKey, facts.window, areUnreal, environments, types]), 'base64')
}

/** Where one stands, or would stand, among others in order. */
function placeOf({ place }: Known, alike: readonly Known[]): number {
  let [low, high] = [0, alike.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((alike[middle]?.place ?? place) < place) low = middle + 1
    else high = middle
  }
  return low
}
