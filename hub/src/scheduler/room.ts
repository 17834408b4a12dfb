import type { Shape } from '@stoker/protocol'
import { isQuiet } from '../engine/liveness.ts'
import type { Now, WorkerState } from '../engine/state.ts'
import { suits } from './fit.ts'
import type { View } from './policy.ts'

/** What is left on a worker while a plan is made; only shrinks within a pass. */
export class Room {
  readonly worker: WorkerState
  #cpusMilli: number
  #memoryMb: number
  #slots: number
  readonly #gpus: Map<string, (typeof this.worker.facts.hardware.gpus)[number]>

  constructor(worker: WorkerState, view: View) {
    this.worker = worker
    this.#cpusMilli = worker.cpusMilliFree
    this.#memoryMb = worker.memoryMbFree
    this.#slots = Math.min(worker.slotsFree, worker.facts.window - worker.leased)
    this.#gpus = new Map(
      worker.facts.hardware.gpus.filter(gpu => !view.devices.has(gpu.uuid)).map(gpu => [gpu.uuid, gpu]),
    )
  }

  /** The devices taken (none for a CPU job), or null if the shape does not fit now. */
  take(shape: Shape, takenElsewhere: Set<string>): readonly string[] | null {
    if (this.#slots < 1 || this.#cpusMilli < shape.cpusMilli || this.#memoryMb < shape.memoryMb) return null
    const gpus = shape.gpus === 0 ? [] : this.#pick(shape, takenElsewhere)
    if (gpus === null) return null
    this.#slots -= 1
    this.#cpusMilli -= shape.cpusMilli
    this.#memoryMb -= shape.memoryMb
    for (const uuid of gpus) {
      this.#gpus.delete(uuid)
      takenElsewhere.add(uuid)
    }
    return gpus
  }

  /** Full workers first, so that large free ones stay free for large jobs. */
  get freeShare(): number {
    const { facts } = this.worker
    const gpus = facts.hardware.gpus.length === 0 ? 0 : this.#gpus.size / facts.hardware.gpus.length
    return gpus * 1000 + this.#cpusMilli / Math.max(1, facts.cpusMilli)
  }

  /** The smallest devices that suit. */
  #pick(shape: Shape, takenElsewhere: ReadonlySet<string>): string[] | null {
    const suiting = [...this.#gpus.values()].filter(gpu => suits(shape, gpu) && !takenElsewhere.has(gpu.uuid))
    if (suiting.length < shape.gpus) return null
    suiting.sort((a, b) => a.memoryMb - b.memoryMb || a.index - b.index)
    return suiting.slice(0, shape.gpus).map(gpu => gpu.uuid)
  }
}

/** Whether a worker takes new work of a bucket at all right now. */
export function isOpen(worker: WorkerState, bucket: number, now: Now): boolean {
  if (!worker.connected || worker.draining || isQuiet(worker, now)) return false
  return (worker.coolDown.get(bucket) ?? now.lease) <= now.lease
}
