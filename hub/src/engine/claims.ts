import type { Fence } from '@stoker/protocol'
import { giveUse, takeUse } from './owner-use.ts'
import { type Bucket, type Claim, claimKey, type State, type WorkerState } from './state.ts'

/** What an attempt takes: the bucket says how much, the placement which devices. */
export function claimOf(
  { job, epoch, attempt }: Fence,
  worker: string,
  gpus: readonly string[],
  { owner, groupId, shape }: Pick<Bucket, 'owner' | 'groupId' | 'shape'>,
): Claim {
  const { cpusMilli, memoryMb } = shape
  const gpuMemoryMb = gpus.length > 0 && shape.gpuSharing === 'shared' ? shape.gpuMemoryMb : null
  return { job, epoch, attempt, worker, owner, groupId, gpus, gpuMemoryMb, cpusMilli, memoryMb }
}

/** Used by recovery too: rows tell of an active job what `placed` told before. */
export function takeClaim(state: State, claim: Claim): void {
  const worker = workerOf(state, claim.worker)
  worker.cpusMilliFree -= claim.cpusMilli
  worker.memoryMbFree -= claim.memoryMb
  worker.slotsFree -= 1
  takeUse(state, claim)
  for (const uuid of claim.gpus) {
    const holders = state.devices.get(uuid) ?? new Map<string, Claim>()
    holders.set(claimKey(claim), claim)
    state.devices.set(uuid, holders)
  }
}

/** The attempt is over: what it claimed may be given again. */
export function giveBack(state: State, claim: Claim): void {
  const worker = workerOf(state, claim.worker)
  worker.cpusMilliFree += claim.cpusMilli
  worker.memoryMbFree += claim.memoryMb
  worker.slotsFree += 1
  giveUse(state, claim)
  freeDevices(state, claim)
  state.dirtyWorkers.add(claim.worker)
}

/** Two workers on one host share devices: what one gives back may be what a job waits for on the other. */
export function freeDevices(state: State, claim: Claim): void {
  for (const uuid of claim.gpus) {
    const holders = state.devices.get(uuid)
    holders?.delete(claimKey(claim))
    if (holders?.size === 0) state.devices.delete(uuid)
    touchDevice(state, uuid)
  }
}

/** Something about a device changed: every worker that shows it is worth a look. */
export function touchDevice(state: State, uuid: string): void {
  for (const id of state.fleet.hostsOf(uuid)) if (state.workers.has(id)) state.dirtyWorkers.add(id)
}

export function workerOf(state: State, id: string): WorkerState {
  const worker = state.workers.get(id)
  if (worker === undefined) throw new Error(`worker ${id} does not exist`)
  return worker
}
