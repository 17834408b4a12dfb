import type { Device, Gpu } from '@stoker/protocol'
import type { State } from '../engine/state.ts'
import { isoTime } from './iso-time.ts'

export function viewDevice({ uuid, index, name, memoryMb, simulated }: Gpu, state: State): Device {
  const hosts = state.fleet.hostsOf(uuid)
  const claims = [...(state.devices.get(uuid)?.values() ?? [])]
  const news = state.deviceNews.get(uuid)
  const quarantine = state.quarantined.get(uuid)
  return {
    uuid,
    index,
    name,
    memoryMb,
    simulated,
    workers: hosts.map(id => state.workers.get(id)?.facts.name ?? id),
    claims: claims.length,
    claimedMb: claims.reduce((sum, { gpuMemoryMb }) => sum + (gpuMemoryMb ?? memoryMb), 0),
    foreignMb: news?.foreignMb ?? null,
    fault: news?.fault ?? null,
    quarantine: quarantine === undefined ? null : { ...quarantine, at: isoTime(quarantine.at) },
  }
}

/** By its uuid, as any worker that shows it describes it. */
export function deviceByUuid(state: State, uuid: string): Gpu | undefined {
  const [host] = state.fleet.hostsOf(uuid)
  return state.workers.get(host ?? '')?.facts.hardware.gpus.find(gpu => gpu.uuid === uuid)
}

/** Nobody gets such a device now, whoever uses it still. */
export function isOut({ uuid }: Gpu, state: State): boolean {
  return state.quarantined.has(uuid) || (state.deviceNews.get(uuid)?.fault ?? null) !== null
}
