import type { Gpu, Shape } from '@stoker/protocol'
import { moved } from '../engine/moved.ts'
import type { Claim, WorkerState } from '../engine/state.ts'
import { chooseDevices, type Devices } from './devices.ts'

/** How many devices nobody has any part of, and how many nobody has whole. */
type Untaken = Readonly<Record<Shape['gpuSharing'], number>>

/** The most that any of some rooms has left of each thing. */
export interface Most extends Record<Shape['gpuSharing'], number> {
  cpusMilli: number
  memoryMb: number
}

/** What is left on a worker while a plan is made. */
export class Room {
  readonly worker: WorkerState
  readonly devices: Devices
  #cpusMilli: number
  #memoryMb: number
  #slots: number
  #untaken: Untaken | null = null

  /** `later`: as it will be once outstanding offers were taken up. */
  constructor(worker: WorkerState, devices: Devices, when: 'now' | 'later' = 'now') {
    this.worker = worker
    this.devices = devices
    this.#cpusMilli = worker.cpusMilliFree
    this.#memoryMb = worker.memoryMbFree
    const slots = worker.slotsFree
    const asked = worker.facts.dialect === undefined ? slots : worker.asks
    this.#slots = when === 'now' ? Math.min(slots, asked, worker.facts.window - worker.leased) : slots
    // A ledger moves only what it knows.
    for (const gpu of this.#gpus) devices.spaceOf(gpu)
  }

  get slots(): number {
    return this.#slots
  }

  /** Without looking at single devices, for passing over many shapes quickly. */
  mayHave({ cpusMilli, memoryMb, gpus, gpuSharing }: Shape): boolean {
    if (this.#slots < 1 || this.#cpusMilli < cpusMilli || this.#memoryMb < memoryMb) return false
    return gpus === 0 || gpus <= this.#devicesLeft[gpuSharing]
  }

  /** Takes it into account that this room may have more. */
  raise(most: Most): void {
    const { exclusive, shared } = this.#devicesLeft
    most.cpusMilli = Math.max(most.cpusMilli, this.#cpusMilli)
    most.memoryMb = Math.max(most.memoryMb, this.#memoryMb)
    most.exclusive = Math.max(most.exclusive, exclusive)
    most.shared = Math.max(most.shared, shared)
  }

  has(shape: Shape): boolean {
    return this.mayHave(shape) && this.choose(shape, null) !== null
  }

  /** The devices a shape would get (none for a CPU job), or null if it does not fit now. */
  choose(shape: Shape, allows: ((gpu: Gpu) => boolean) | null): readonly string[] | null {
    if (!this.mayHave(shape)) return null
    if (shape.gpus === 0) return []
    return chooseDevices(this.#gpus, shape, this.devices, allows)?.map(gpu => gpu.uuid) ?? null
  }

  take(shape: Shape, gpus: readonly string[]): void {
    const gpuMemoryMb = shape.gpuSharing === 'shared' ? shape.gpuMemoryMb : null
    this.#move({ cpusMilli: shape.cpusMilli, memoryMb: shape.memoryMb, gpus, gpuMemoryMb }, 1, true)
  }

  /** As if a claim were over; one through another worker frees devices only. */
  giveBack(claim: Claim): void {
    this.#move(claim, -1, claim.worker === this.worker.id)
  }

  /** As if it were not over after all. */
  takeBack(claim: Claim): void {
    this.#move(claim, 1, claim.worker === this.worker.id)
  }

  /** Of what the worker has, by GPUs first. */
  get freeShare(): number {
    return this.gpuShare * 1000 + this.#cpusMilli / Math.max(1, this.worker.facts.cpusMilli)
  }

  /** Of its devices, those nobody has any part of. */
  get gpuShare(): number {
    return this.#gpus.length === 0 ? 0 : this.#devicesLeft.exclusive / this.#gpus.length
  }

  /** Of CPUs and slots, whichever is scarcer. */
  get cpuShare(): number {
    const { cpusMilli, maxJobs } = this.worker.facts
    return Math.min(this.#cpusMilli / Math.max(1, cpusMilli), this.#slots / Math.max(1, maxJobs))
  }

  get #gpus(): readonly Gpu[] {
    return this.worker.facts.hardware.gpus
  }

  /** Another worker that shows the same devices may have taken some since: never too few. */
  get #devicesLeft(): Untaken {
    this.#untaken ??= countUntaken(this.#gpus, this.devices)
    return this.#untaken
  }

  #move(claim: Pick<Claim, 'cpusMilli' | 'memoryMb' | 'gpus' | 'gpuMemoryMb'>, sign: 1 | -1, isHere: boolean): void {
    this.devices.move(claim, sign)
    if (claim.gpus.length > 0) this.#untaken = null
    if (!isHere) return
    const freed = sign === 1 ? -1 : 1
    this.#cpusMilli = moved(this.#cpusMilli, claim.cpusMilli, freed)
    this.#memoryMb = moved(this.#memoryMb, claim.memoryMb, freed)
    this.#slots += freed
  }
}

function countUntaken(gpus: readonly Gpu[], devices: Devices): Untaken {
  let [exclusive, shared] = [0, 0]
  for (const gpu of gpus) {
    const { out, whole, parts } = devices.spaceOf(gpu)
    if (out !== null || whole > 0) continue
    shared += 1
    if (parts === 0) exclusive += 1
  }
  return { exclusive, shared }
}
