import { moved } from './moved.ts'
import type { WorkerFacts } from './state.ts'

/** All workers taken together, away ones too: they are known and come back. Who joins is added, nobody is counted again. */
export class Fleet {
  readonly #hosts = new Map<string, Map<string, number>>()
  #cpusMilli = 0
  #memoryMb = 0
  #slots = 0
  #gpuMemoryMb = 0

  get cpusMilli(): number {
    return this.#cpusMilli
  }

  get memoryMb(): number {
    return this.#memoryMb
  }

  get slots(): number {
    return this.#slots
  }

  get gpus(): number {
    return this.#hosts.size
  }

  get gpuMemoryMb(): number {
    return this.#gpuMemoryMb
  }

  /** The workers that show a device. */
  hostsOf(uuid: string): readonly string[] {
    const hosts = this.#hosts.get(uuid)
    return hosts === undefined ? [] : [...hosts.keys()]
  }

  /** Whether several workers show a device. */
  isShared(uuid: string): boolean {
    return (this.#hosts.get(uuid)?.size ?? 0) > 1
  }

  add(id: string, facts: WorkerFacts): void {
    this.#move(facts, 1)
    for (const { uuid, memoryMb } of facts.hardware.gpus) {
      const hosts = this.#hosts.get(uuid) ?? new Map<string, number>()
      this.#gpuMemoryMb -= smallest(hosts)
      this.#hosts.set(uuid, hosts.set(id, memoryMb))
      this.#gpuMemoryMb += smallest(hosts)
    }
  }

  /** With the facts it was added with. */
  remove(id: string, facts: WorkerFacts): void {
    this.#move(facts, -1)
    for (const { uuid } of facts.hardware.gpus) {
      const hosts = this.#hosts.get(uuid) ?? new Map<string, number>()
      this.#gpuMemoryMb -= smallest(hosts)
      hosts.delete(id)
      this.#gpuMemoryMb += smallest(hosts)
      if (hosts.size === 0) this.#hosts.delete(uuid)
    }
  }

  #move({ cpusMilli, memoryMb, maxJobs }: WorkerFacts, sign: 1 | -1): void {
    this.#cpusMilli = moved(this.#cpusMilli, cpusMilli, sign)
    this.#memoryMb = moved(this.#memoryMb, memoryMb, sign)
    this.#slots = moved(this.#slots, maxJobs, sign)
  }
}

/** Of what the workers that show a device say of its memory. */
function smallest(hosts: ReadonlyMap<string, number>): number {
  return hosts.size === 0 ? 0 : Math.min(...hosts.values())
}
