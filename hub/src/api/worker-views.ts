import type { Worker, WorkerDetail } from '@stoker/protocol'
import type { LiveBoard } from '../engine/live-board.ts'
import type { State, WorkerState } from '../engine/state.ts'
import { isOut, viewDevice } from './device-views.ts'
import { isoTime, isoTimeOrNull } from './iso-time.ts'

const MB = 1_000_000

/** Ids come first: a worker named like another's id cannot hide it. */
export function workerByRef(state: State, ref: string): WorkerState | undefined {
  const byId = state.workers.get(ref)
  if (byId !== undefined) return byId
  for (const worker of state.workers.values()) if (worker.facts.name === ref) return worker
  return undefined
}

export function viewWorker(worker: WorkerState, state: State): Worker {
  const { facts } = worker
  const { gpus } = facts.hardware
  return {
    id: worker.id,
    name: facts.name,
    state: !worker.connected ? 'away' : worker.draining ? 'draining' : 'ready',
    version: facts.version,
    tags: [...facts.tags],
    maxJobs: facts.maxJobs,
    running: worker.active.size,
    cpus: { total: facts.cpusMilli / 1000, claimed: (facts.cpusMilli - worker.cpusMilliFree) / 1000 },
    memoryBytes: { total: facts.memoryMb * MB, claimed: (facts.memoryMb - worker.memoryMbFree) * MB },
    gpus: {
      total: gpus.length,
      claimed: gpus.filter(({ uuid }) => state.devices.has(uuid)).length,
      out: gpus.filter(gpu => isOut(gpu, state)).length,
    },
    simulated: gpus.some(({ simulated }) => simulated),
    dialect: facts.dialect?.name ?? 'native',
    engine: viewEngine(facts.abilities.containers),
    registeredAt: isoTime(worker.registeredAt),
    lastSeenAt: isoTimeOrNull(worker.seenAt),
  }
}

function viewEngine(containers: WorkerState['facts']['abilities']['containers']): Worker['engine'] {
  if (containers === undefined) return null
  const { engine, version, images } = containers
  return { name: engine, version, images: images.length }
}

/** All but the attempts, whose job ids only the store knows. */
export function viewWorkerLoad(
  worker: WorkerState,
  state: State,
  board: LiveBoard,
): Omit<WorkerDetail, keyof Worker | 'attempts'> {
  const { hardware, abilities } = worker.facts
  const samples = board.samplesOf(worker.id).map(({ at, host, gpus }) => ({ at: isoTime(at), host, gpus: [...gpus] }))
  return { hardware, devices: hardware.gpus.map(gpu => viewDevice(gpu, state)), abilities, samples }
}
