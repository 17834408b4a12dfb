import { type Fence, sameFence } from '@stoker/protocol'
import { giveUse, takeUse } from './owner-use.ts'
import { givePlace } from './sessions.ts'
import { type ActiveJob, type Bucket, type Claim, claimKey, type State, type WorkerState } from './state.ts'
import { noteTouch } from './untouched.ts'

/** What an attempt takes: the bucket says how much, the placement which devices. */
export function claimOf(
  { job, epoch, attempt }: Fence,
  worker: string,
  gpus: readonly string[],
  { owner, groupId, shape }: Pick<Bucket, 'owner' | 'groupId' | 'shape'>,
  session: Fence | null,
): Claim {
  const { cpusMilli, memoryMb } = shape
  const gpuMemoryMb = gpus.length > 0 && shape.gpuSharing === 'shared' ? shape.gpuMemoryMb : null
  return { job, epoch, attempt, worker, owner, groupId, gpus, gpuMemoryMb, cpusMilli, memoryMb, session }
}

/** Used by recovery too: rows tell of an active job what `placed` told before. A task takes a place in its session, which `takePlace` says. */
export function takeClaim(state: State, claim: Claim): void {
  takeUse(state, claim)
  if (claim.session !== null) return
  const worker = workerOf(state, claim.worker)
  worker.cpusMilliFree -= claim.cpusMilli
  worker.memoryMbFree -= claim.memoryMb
  worker.slotsFree -= 1
  for (const uuid of claim.gpus) {
    const holders = state.devices.get(uuid) ?? new Map<string, Claim>()
    holders.set(claimKey(claim), claim)
    state.devices.set(uuid, holders)
  }
  state.untouched.note(claim.worker, false)
}

/** The attempt is over: what it claimed may be given again. */
export function giveBack(state: State, claim: Claim, at: number): void {
  giveUse(state, claim)
  if (claim.session !== null) {
    givePlace(state, claim, at)
    return
  }
  const worker = workerOf(state, claim.worker)
  worker.cpusMilliFree += claim.cpusMilli
  worker.memoryMbFree += claim.memoryMb
  worker.slotsFree += 1
  freeDevices(state, claim)
  touchWorker(state, worker)
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
  for (const id of state.fleet.hostsOf(uuid)) {
    const worker = state.workers.get(id)
    if (worker !== undefined) touchWorker(state, worker)
  }
}

/** Something about a worker changed: it is worth a look. */
export function touchWorker(state: State, worker: WorkerState): void {
  state.dirtyWorkers.add(worker.id)
  noteTouch(state, worker)
}

/** An offer its worker has not taken up yet; tasks have places of their own and fill nobody's window. */
export function isOutstanding({ state, claim }: Pick<ActiveJob, 'state' | 'claim'>): boolean {
  return state === 'leased' && claim.session === null
}

/** The claim of an attempt that is still its job's present one. */
export function presentClaim(state: State, fence: Fence): Claim | undefined {
  const claim = state.active.get(fence.job)?.claim
  return claim !== undefined && sameFence(claim, fence) ? claim : undefined
}

export function workerOf(state: State, id: string): WorkerState {
  const worker = state.workers.get(id)
  if (worker === undefined) throw new Error(`worker ${id} does not exist`)
  return worker
}
