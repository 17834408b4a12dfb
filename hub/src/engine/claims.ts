import { giveUse, takeUse } from './owner-limits.ts'
import { type Claim, claimKey, type State, type WorkerState } from './state.ts'

/** Used by recovery too: rows tell of an active job what `placed` told before. */
export function takeClaim(state: State, claim: Claim): void {
  const worker = workerOf(state, claim.worker)
  worker.cpusMilliFree -= claim.cpusMilli
  worker.memoryMbFree -= claim.memoryMb
  worker.slotsFree -= 1
  for (const uuid of claim.gpus) state.devices.set(uuid, claimKey(claim))
  takeUse(state, claim)
}

/** The attempt is over: what it claimed may be given again. */
export function giveBack(state: State, claim: Claim): void {
  const worker = workerOf(state, claim.worker)
  worker.cpusMilliFree += claim.cpusMilli
  worker.memoryMbFree += claim.memoryMb
  worker.slotsFree += 1
  freeDevices(state, claim)
  giveUse(state, claim)
  state.dirtyWorkers.add(claim.worker)
}

/** Two workers on one host share devices: what one gives back may be what a job waits for on the other. */
export function freeDevices(state: State, claim: Claim): void {
  if (claim.gpus.length === 0) return
  for (const uuid of claim.gpus) if (state.devices.get(uuid) === claimKey(claim)) state.devices.delete(uuid)
  for (const { id, facts } of state.workers.values())
    if (facts.hardware.gpus.some(gpu => claim.gpus.includes(gpu.uuid))) state.dirtyWorkers.add(id)
}

export function workerOf(state: State, id: string): WorkerState {
  const worker = state.workers.get(id)
  if (worker === undefined) throw new Error(`worker ${id} does not exist`)
  return worker
}
