import type { Gpu, GpuDifficulty } from '@stoker/protocol'
import type { State, WorkerState } from '../../engine/state.ts'

/** A device as clients see it: the same one may be shown by two workers of one machine. */
export interface SeenDevice {
  readonly gpu: Gpu
  readonly worker: WorkerState
  readonly difficulty: GpuDifficulty
  readonly isFree: boolean
}

/** All devices of all workers, each once, by a worker that is there if any is. */
export function seenDevices(state: State): readonly SeenDevice[] {
  const found = new Map<string, SeenDevice>()
  for (const worker of state.workers.values())
    for (const gpu of worker.facts.hardware.gpus) {
      const known = found.get(gpu.uuid)
      if (known === undefined || (!known.worker.connected && worker.connected))
        found.set(gpu.uuid, { gpu, worker, difficulty: difficultyOf(gpu), isFree: isFree(state, gpu, worker) })
    }
  return [...found.values()]
}

/** A device nobody said anything about is for easy tasks. */
function difficultyOf({ difficulty }: Gpu): GpuDifficulty {
  return difficulty ?? 'low'
}

/** Whether a task could have it now, as far as the device is concerned. */
function isFree(state: State, { uuid }: Gpu, worker: WorkerState): boolean {
  const isOut = state.quarantined.has(uuid) || (state.deviceNews.get(uuid)?.fault ?? null) !== null
  return !isOut && worker.connected && !worker.draining && !worker.mistrusted && !state.devices.has(uuid)
}
