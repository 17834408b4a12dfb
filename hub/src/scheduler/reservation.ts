import type { Shape } from '@stoker/protocol'
import type { Bucket, Claim, Now, WorkerState } from '../engine/state.ts'
import { claimsOn, MARGIN_MS, surelyOver } from './claims-on.ts'
import { Devices, hasSpace } from './devices.ts'
import type { View } from './policy.ts'
import { Room } from './room.ts'

/** The oldest job of a bucket, and the lease time since which it could not start. */
export interface WaitingHead {
  readonly job: number
  readonly since: number
}

/** A worker is kept for a job that waited too long, until the jobs it waits for have ended. What it waits for and until when is settled at its beginning, so that nothing that starts later can put it off. */
export interface Reservation {
  readonly job: number
  readonly bucket: number
  readonly priority: number
  readonly worker: string
  /** Wall time by which all it waits for is surely over; null if that cannot be known. */
  readonly until: number | null
  readonly waitsFor: ReadonlySet<number>
}

/** A reservation in a pass: the worker as it will be when the waited-for jobs have ended and the reserved one has started. What fits there as well as now is in nobody's way. */
export class Hold {
  reservation: Reservation
  /** Someone who may pass took what was kept: nobody is held back for it any more. */
  isBroken = false
  readonly #spare: Room

  private constructor(reservation: Reservation, spare: Room) {
    this.reservation = reservation
    this.#spare = spare
  }

  /** Null if the job would not fit even then: a device failed, the worker shrank or someone else uses it. */
  static open(view: View, reservation: Reservation): Hold | null {
    const worker = view.workers.get(reservation.worker)
    const shape = view.buckets.get(reservation.bucket)?.shape
    if (worker === undefined || shape === undefined) return null
    const spare = new Room(worker, new Devices(view), 'later')
    for (const claim of claimsOn(view, worker)) if (reservation.waitsFor.has(claim.job)) spare.giveBack(claim)
    const gpus = spare.choose(shape, null)
    if (gpus === null) return null
    spare.take(shape, gpus)
    return new Hold(reservation, spare)
  }

  get worker(): string {
    return this.reservation.worker
  }

  /** Higher priorities pass, and so does the bucket it is for. */
  binds(bucket: Bucket): boolean {
    return bucket.id !== this.reservation.bucket && bucket.priority <= this.reservation.priority
  }

  /** Surely over before the reserved job could start anyway. */
  endsBefore({ terms }: Bucket, now: Now): boolean {
    const { until } = this.reservation
    return until !== null && terms.timeoutMs !== null && now.wall + terms.timeoutMs + MARGIN_MS <= until
  }

  /** A job that ends in time was started: it is one more to wait for. */
  waitFor(job: number): void {
    const { reservation } = this
    this.reservation = { ...reservation, waitsFor: new Set([...reservation.waitsFor, job]) }
  }

  /** Whether another job would leave what is needed, on the reserved worker or on another that shows its devices. */
  spares(shape: Shape, worker: WorkerState): boolean {
    return worker.id !== this.worker || this.#spare.mayHave(shape)
  }

  sparesDevice(shape: Shape, gpu: WorkerState['facts']['hardware']['gpus'][number]): boolean {
    const isKept = this.#spare.worker.facts.hardware.gpus.some(({ uuid }) => uuid === gpu.uuid)
    return !isKept || hasSpace(this.#spare.devices.spaceOf(gpu), shape)
  }

  /** Another job passed and has its place. */
  giveWay(shape: Shape, worker: WorkerState, gpus: readonly string[]): void {
    const taken = worker.facts.hardware.gpus.filter(({ uuid }) => gpus.includes(uuid))
    if (this.spares(shape, worker) && taken.every(gpu => this.sparesDevice(shape, gpu))) this.take(shape, worker, gpus)
    else this.isBroken = true
  }

  take(shape: Shape, worker: WorkerState, gpus: readonly string[]): void {
    if (worker.id === this.worker) this.#spare.take(shape, gpus)
    else {
      const gpuMemoryMb = shape.gpuSharing === 'shared' ? shape.gpuMemoryMb : null
      this.#spare.devices.move({ gpus, gpuMemoryMb }, 1)
    }
  }
}

/** What a shape would have to wait for on a worker; null if it would not fit even if all were over. */
export function waitOn(
  view: View,
  worker: WorkerState,
  shape: Shape,
  now: Now,
): Pick<Reservation, 'until' | 'waitsFor'> | null {
  const room = new Room(worker, new Devices(view), 'later')
  const ends = claimsOn(view, worker).map(claim => ({ claim, over: surelyOver(view, claim, now) }))
  ends.sort((a, b) => compareEnds(a.over, b.over) || a.claim.job - b.claim.job || a.claim.attempt - b.claim.attempt)
  const released: typeof ends = []
  for (const end of ends) {
    if (room.has(shape)) break
    room.giveBack(end.claim)
    released.push(end)
  }
  if (!room.has(shape)) return null
  const needed = released.filter(({ claim }) => isNeeded(room, claim, shape))
  const isKnown = needed.every(({ over }) => over !== null)
  const until = isKnown ? Math.max(now.wall, ...needed.map(({ over }) => over ?? 0)) : null
  return { until, waitsFor: new Set(needed.map(({ claim }) => claim.job)) }
}

/** Some of what ended on the way made room that the job does not use. */
function isNeeded(room: Room, claim: Claim, shape: Shape): boolean {
  room.takeBack(claim)
  if (room.has(shape)) return false
  room.giveBack(claim)
  return true
}

function compareEnds(a: number | null, b: number | null): number {
  return (a ?? Number.MAX_VALUE) - (b ?? Number.MAX_VALUE)
}
