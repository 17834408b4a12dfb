import type { WorkerState } from '../../../engine/state.ts'
import { isoTime } from './iso-time.ts'
import type { Tally } from './worker-tally.ts'

export type WireWorkerState = 'idle' | 'busy' | 'draining' | 'offline'

export function workerState({ connected, draining, active }: WorkerState): WireWorkerState {
  if (!connected) return 'offline'
  if (draining) return 'draining'
  return active.size > 0 ? 'busy' : 'idle'
}

/** A worker of any protocol as this dialect shows one; `jobs` are those of its jobs that the caller may see. */
export function workerRecord(worker: WorkerState, { completed, failed }: Tally, jobs: readonly string[]) {
  const { facts } = worker
  const { hardware } = facts
  return {
    worker_id: wireId(worker),
    status: workerState(worker),
    worker_type: facts.dialect?.name ?? 'native',
    location: null as string | null,
    capabilities: capabilitiesOf(worker),
    registered_at: isoTime(worker.registeredAt),
    last_seen: worker.seenAt === null ? null : isoTime(worker.seenAt),
    jobs_completed: completed,
    jobs_failed: failed,
    name: facts.name,
    hostname: hardware.hostname,
    gpus: hardware.gpus.map(({ index, name, memoryMb }) => ({ gpu_id: index, name, memory_mb: memoryMb })),
    max_jobs: facts.maxJobs,
    active_jobs: worker.active.size,
    current_jobs: jobs,
    mode: modeOf(worker),
    dialect: facts.dialect?.name ?? 'native',
    simulated: hardware.gpus.some(({ simulated }) => simulated),
    note: facts.abilities.note,
  }
}

export function capabilitiesOf({ facts }: WorkerState) {
  const { hardware, abilities } = facts
  return {
    max_concurrent_jobs: facts.maxJobs,
    supports_gpu: hardware.gpus.length > 0,
    supports_docker: abilities.containers !== undefined,
    cpu_count: facts.cpusMilli / 1000,
    memory_total_gb: Math.round((facts.memoryMb * 1e6 * 1000) / 2 ** 30) / 1000,
    gpu_count: hardware.gpus.length,
  }
}

/** Workers of this dialect are known by the name they gave themselves. */
export function wireId({ id, facts }: WorkerState): string {
  return facts.dialect?.name === 'trainforge' ? facts.name : id
}

function modeOf({ facts: { abilities } }: WorkerState): 'docker' | 'sandbox' | 'process' {
  if (abilities.containers !== undefined) return 'docker'
  return abilities.sandbox ? 'sandbox' : 'process'
}
