import type { State } from './state.ts'

/** All workers taken together, away ones too: they are known and come back. */
export interface Fleet {
  readonly cpusMilli: number
  readonly memoryMb: number
  readonly slots: number
  readonly gpus: number
  readonly gpuMemoryMb: number
  /** Device uuid → the workers that show it. */
  readonly hosts: ReadonlyMap<string, readonly string[]>
}

/** Counted anew only after a worker came, changed or went. */
export function fleetOf({ workers, fleet }: Pick<State, 'workers' | 'fleet'>): Fleet {
  fleet.known ??= count(workers)
  return fleet.known
}

function count(workers: State['workers']): Fleet {
  const hosts = new Map<string, string[]>()
  const memory = new Map<string, number>()
  const sum = { cpusMilli: 0, memoryMb: 0, slots: 0 }
  for (const { id, facts } of workers.values()) {
    sum.cpusMilli += facts.cpusMilli
    sum.memoryMb += facts.memoryMb
    sum.slots += facts.maxJobs
    for (const { uuid, memoryMb } of facts.hardware.gpus) {
      const known = hosts.get(uuid)
      if (known === undefined) hosts.set(uuid, [id])
      else known.push(id)
      memory.set(uuid, Math.min(memoryMb, memory.get(uuid) ?? memoryMb))
    }
  }
  const gpuMemoryMb = [...memory.values()].reduce((total, one) => total + one, 0)
  return { ...sum, gpus: hosts.size, gpuMemoryMb, hosts }
}
