import type { Bucket, Now } from '../engine/state.ts'
import { hostsOf } from './claims-on.ts'
import { isOpen } from './door.ts'
import type { View } from './policy.ts'
import { Hold, type Reservation } from './reservation.ts'
import type { Room } from './room.ts'

/** Never written to. */
const NONE = new Map<string, never>()
const NO_RESERVATIONS: readonly Reservation[] = []

/** The reservations of a pass, by the workers they bear upon. No two bear upon one worker: they could wait for each other for ever. */
export class Holds {
  readonly #byWorker: Map<string, Hold>
  readonly #holds: Hold[] = []

  constructor(view: View, reservations: readonly Reservation[]) {
    this.#byWorker = reservations.length === 0 ? NONE : new Map()
    for (const reservation of reservations) {
      const hosts = hostsOf(view, reservation.worker)
      const hold = [...hosts].some(worker => this.#byWorker.has(worker)) ? null : Hold.open(view, reservation)
      if (hold === null) continue
      this.#holds.push(hold)
      for (const worker of hosts) this.#byWorker.set(worker, hold)
    }
  }

  get reservations(): readonly Reservation[] {
    if (this.#holds.length === 0) return NO_RESERVATIONS
    return this.#holds.filter(hold => !hold.isBroken).map(hold => hold.reservation)
  }

  /** Those that were in force and are not any more: who was held back for them may look again. */
  get broken(): readonly Reservation[] {
    if (this.#holds.length === 0) return NO_RESERVATIONS
    return this.#holds.filter(hold => hold.isBroken).map(hold => hold.reservation)
  }

  /** On how many workers something is kept. */
  get workers(): number {
    return this.#byWorker.size
  }

  on(worker: string): Hold | null {
    const hold = this.#byWorker.get(worker)
    return hold === undefined || hold.isBroken ? null : hold
  }
}

/** Reservations that have lost their reason: the job is gone, or the worker takes nothing. */
export function isStale(view: View, { job, worker: id }: Reservation, now: Now): boolean {
  const worker = view.workers.get(id)
  return worker === undefined || !view.queued.has(job) || !isOpen(worker, now)
}

/** The devices a job gets in a room beside what is kept there for another, or null. With `job`, they are taken at once. */
export function chooseBeside(
  room: Room,
  bucket: Bucket,
  hold: Hold | null,
  now: Now,
  job: number | null,
): readonly string[] | null {
  const { shape } = bucket
  const binding = hold?.binds(bucket) === true ? hold : null
  const inTheWay = binding?.endsBefore(bucket, now) === false ? binding : null
  if (inTheWay?.spares(shape, room.worker) === false) return null
  const gpus = room.choose(shape, inTheWay === null ? null : gpu => inTheWay.sparesDevice(shape, gpu))
  if (gpus === null || job === null) return gpus
  room.take(shape, gpus)
  if (inTheWay !== null) inTheWay.take(shape, room.worker, gpus)
  else if (binding !== null) binding.waitFor(job)
  else if (hold?.reservation.bucket !== bucket.id) hold?.giveWay(shape, room.worker, gpus)
  return gpus
}
