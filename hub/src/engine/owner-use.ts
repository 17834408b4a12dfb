import type { Fleet } from './fleet.ts'
import { moved } from './moved.ts'
import { limitsOf } from './owner-limits.ts'
import type { Claim, State } from './state.ts'

const HALF_LIFE_MS = 3_600_000

/** Amounts taken together, as claims and shapes name them. */
export interface Taken {
  cpusMilli: number
  memoryMb: number
  gpus: number
  /** Of shared devices. */
  gpuMemoryMb: number
  slots: number
  /** Devices, whole or shared. */
  devices: number
}

/** What an owner had lately, and what it has now. The average is that of its dominant share; an hour ago counts half as much as now. */
export interface OwnerUse {
  average: number
  /** Wall time up to which the average was taken. */
  at: number
  readonly now: Taken
}

/** The largest part of any one resource of the fleet: a job slot is a resource too, or inline jobs would cost nothing. */
export function dominantShare(taken: Taken, fleet: Fleet): number {
  const deviceMb = fleet.gpus === 0 ? 0 : fleet.gpuMemoryMb / fleet.gpus
  const gpuMb = taken.gpus * deviceMb + taken.gpuMemoryMb
  return Math.max(
    part(taken.cpusMilli, fleet.cpusMilli),
    part(taken.memoryMb, fleet.memoryMb),
    part(taken.slots, fleet.slots),
    fleet.gpuMemoryMb === 0 ? part(taken.gpus, fleet.gpus) : part(gpuMb, fleet.gpuMemoryMb),
  )
}

/** The average as it stands at a time, the present use included up to then. */
export function averageAt(use: OwnerUse, fleet: Fleet, at: number): number {
  const passedMs = Math.max(0, at - use.at)
  if (passedMs === 0) return use.average
  const kept = 2 ** (-passedMs / HALF_LIFE_MS)
  return use.average * kept + dominantShare(use.now, fleet) * (1 - kept)
}

/** Brings an owner's average up to a moment, before what it has changes. Only the hub's own clock may set it back. */
function settleUse(state: State, owner: string, at: number, isHubTime: boolean): void {
  const use = useOf(state, owner)
  const until = Math.floor(isHubTime ? at : Math.max(at, use.at))
  use.average = averageAt(use, state.fleet, until)
  use.at = until
  state.dirtyOwners.add(owner)
}

/** A task takes nothing, so nothing has to be settled for it. */
export function settleUseOf(state: State, claim: Claim, at: number, isHubTime: boolean): void {
  if (claim.session === null) settleUse(state, claim.owner, at, isHubTime)
}

/** A task has only what its session has taken already; of its group it is one all the same. */
export function takeUse(state: State, claim: Claim): void {
  if (claim.session === null) add(useOf(state, claim.owner).now, claim, 1)
  const group = groupOf(state, claim)
  if (group !== undefined) group.claims += 1
}

/** What a limit kept back may start now, on any worker. */
export function giveUse(state: State, claim: Claim): void {
  if (claim.session === null) {
    add(useOf(state, claim.owner).now, claim, -1)
    const limits = limitsOf(state, claim.owner)
    if (limits.running !== null || limits.gpus !== null) state.woken.add(claim.owner)
  }
  const group = groupOf(state, claim)
  if (group === undefined) return
  group.claims -= 1
  if (group.maxParallel !== null) state.woken.add(group.id)
}

export function useOf(state: Pick<State, 'ownerUses'>, owner: string): OwnerUse {
  const known = state.ownerUses.get(owner)
  if (known !== undefined) return known
  const fresh = { average: 0, at: 0, now: { cpusMilli: 0, memoryMb: 0, gpus: 0, gpuMemoryMb: 0, slots: 0, devices: 0 } }
  state.ownerUses.set(owner, fresh)
  return fresh
}

function groupOf(state: State, { groupId }: Claim) {
  return groupId === null ? undefined : state.groups.get(groupId)
}

function add(taken: Taken, claim: Claim, sign: 1 | -1): void {
  const { cpusMilli, memoryMb, gpus, gpuMemoryMb } = claim
  taken.cpusMilli = moved(taken.cpusMilli, cpusMilli, sign)
  taken.memoryMb = moved(taken.memoryMb, memoryMb, sign)
  taken.slots += sign
  taken.devices = moved(taken.devices, gpus.length, sign)
  if (gpuMemoryMb === null) taken.gpus = moved(taken.gpus, gpus.length, sign)
  else taken.gpuMemoryMb = moved(taken.gpuMemoryMb, gpuMemoryMb * gpus.length, sign)
}

function part(taken: number, total: number): number {
  return taken === 0 ? 0 : Math.min(1, taken / Math.max(1, total))
}
