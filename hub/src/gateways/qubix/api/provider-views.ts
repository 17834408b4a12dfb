import type { State, WorkerState } from '../../../engine/state.ts'
import { gpuModelOf } from '../gpu-model.ts'
import type { ConsumerContext } from './context.ts'

const MIB_PER_GB = 1024

/** A worker as customers see it. */
export interface Provider {
  readonly id: string
  readonly name: string
  readonly address: string
  readonly workerId: string | null
  readonly location: string | null
  readonly computePower: number
  /** What nobody asks money for costs nothing. */
  readonly pricePerHour: number
  readonly gpus: readonly { readonly model: string; readonly vramGb: number }[]
  readonly vramGb: number
  readonly ramGb: number
  readonly isOnline: boolean
  readonly isActive: boolean
  /** It could start something now. */
  readonly isFree: boolean
  readonly worker: WorkerState
}

export type ProviderStatus = 'available' | 'busy' | 'paused' | 'offline'

export function providersOf(context: Pick<ConsumerContext, 'offerOf'>, state: State): Provider[] {
  return [...state.workers.values()].map(worker => providerOf(context, state, worker))
}

function providerOf({ offerOf }: Pick<ConsumerContext, 'offerOf'>, state: State, worker: WorkerState): Provider {
  const { facts, connected, draining } = worker
  const offer = offerOf(worker)
  const gpus = facts.hardware.gpus.map(({ name, memoryMb }) => ({
    model: gpuModelOf(name),
    vramGb: oneDigit(memoryMb / MIB_PER_GB),
  }))
  const vramGb = Math.max(0, ...gpus.map(gpu => gpu.vramGb))
  const isActive = connected && !draining
  const hasGpu = gpus.length === 0 || facts.hardware.gpus.some(({ uuid }) => !state.devices.has(uuid))
  return {
    id: worker.id,
    name: facts.name,
    address: offer.address ?? '',
    workerId: offer.workerId ?? null,
    location: offer.location ?? null,
    computePower: offer.computePower ?? facts.hardware.cores * 10 + vramGb * 50,
    pricePerHour: offer.pricePerHour ?? 0,
    gpus,
    vramGb,
    ramGb: oneDigit(facts.memoryMb / 1000),
    isOnline: connected,
    isActive,
    isFree: isActive && worker.slotsFree > 0 && hasGpu,
    worker,
  }
}

/** By the hub's id, else by the one its worker gave itself or its name, if only one has it. */
export function findProvider(providers: readonly Provider[], id: string): Provider | null {
  const known = providers.find(provider => provider.id === id)
  if (known !== undefined) return known
  const [first, second] = providers.filter(({ workerId, name }) => workerId === id || name === id)
  return first !== undefined && second === undefined ? first : null
}

export function statusOf({ isOnline, isActive, isFree }: Provider): ProviderStatus {
  if (!isOnline) return 'offline'
  if (!isActive) return 'paused'
  return isFree ? 'available' : 'busy'
}

/** Exactly these nine keys: the Python SDK takes no other. Nobody has rated anything, so there is no reputation. */
export function viewProvider({ id, address, computePower, pricePerHour, isActive, worker }: Provider, jobs: number) {
  return {
    id,
    address,
    computePower,
    pricePerHour,
    reputation: null,
    totalJobs: jobs,
    isActive,
    createdAt: isoTime(worker.registeredAt),
    updatedAt: isoTime(worker.seenAt ?? worker.registeredAt),
  }
}

export function viewProviderDetails(provider: Provider, jobs: number) {
  const { facts, active } = provider.worker
  const [gpu] = provider.gpus
  return {
    ...viewProvider(provider, jobs),
    name: provider.name,
    workerId: provider.workerId,
    location: provider.location,
    status: statusOf(provider),
    runningJobs: active.size,
    maxJobs: facts.maxJobs,
    gpuModel: gpu?.model ?? null,
    gpuVram: provider.vramGb,
    gpus: provider.gpus,
    cpuModel: facts.hardware.cpuModel,
    cpuCores: facts.hardware.cores,
    ramTotal: provider.ramGb,
    storageFree: oneDigit(facts.hardware.disk.freeBytes / 1e9),
    dialect: facts.dialect?.name ?? 'native',
    simulated: facts.hardware.gpus.some(({ simulated }) => simulated),
  }
}

function oneDigit(value: number): number {
  return Math.round(value * 10) / 10
}

export function isoTime(at: number): string {
  return new Date(at).toISOString()
}
