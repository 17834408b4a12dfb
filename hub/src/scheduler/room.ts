import type { Gpu, Shape } from '@stoker/protocol'
import type { Claim, WorkerState } from '../engine/state.ts'
import { chooseDevices, type Devices } from './devices.ts'

/** What is left on a worker while a plan is made. */
export class Room {
  readonly worker: WorkerState
  readonly devices: Devices
  #cpusMilli: number
  #memoryMb: number
  #slots: number
  #gpuShare: number | null = null

  /** `later`: as it will be once outstanding offers were taken up. */
  constructor(worker: WorkerState, devices: Devices, when: 'now' | 'later' = 'now') {
    this.worker = worker
    this.devices = devices
    this.#cpusMilli = worker.cpusMilliFree
    this.#memoryMb = worker.memoryMbFree
    const slots = worker.slotsFree
    this.#slots = when === 'now' ? Math.min(slots, worker.facts.window - worker.leased) : slots
    // A ledger moves only what it knows.
    for (const gpu of this.#gpus) devices.spaceOf(gpu)
  }

  get slots(): number {
    return this.#slots
  }

  /** Without looking at devices, for passing over many shapes quickly. */
  mayHave({ cpusMilli, memoryMb }: Shape): boolean {
    return this.#slots >= 1 && this.#cpusMilli >= cpusMilli && this.#memoryMb >= memoryMb
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
    if (this.#gpus.length === 0) return 0
    this.#gpuShare ??= this.#countGpuShare()
    return this.#gpuShare
  }

  /** Of CPUs and slots, whichever is scarcer. */
  get cpuShare(): number {
    const { cpusMilli, maxJobs } = this.worker.facts
    return Math.min(this.#cpusMilli / Math.max(1, cpusMilli), this.#slots / Math.max(1, maxJobs))
  }

  get #gpus(): readonly Gpu[] {
    return this.worker.facts.hardware.gpus
  }

  #countGpuShare(): number {
    let free = 0
    for (const gpu of this.#gpus) {
      const space = this.devices.spaceOf(gpu)
      if (space.out === null && space.whole === 0 && space.parts === 0) free += 1
    }
    return free / this.#gpus.length
  }

  #move(claim: Pick<Claim, 'cpusMilli' | 'memoryMb' | 'gpus' | 'gpuMemoryMb'>, sign: 1 | -1, isHere: boolean): void {
    this.devices.move(claim, sign)
    if (claim.gpus.length > 0) this.#gpuShare = null
    if (!isHere) return
    this.#cpusMilli -= sign * claim.cpusMilli
    this.#memoryMb -= sign * claim.memoryMb
    this.#slots -= sign
  }
}
