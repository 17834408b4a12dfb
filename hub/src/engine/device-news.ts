import type { DeviceNews } from '@stoker/protocol'
import { touchDevice } from './claims.ts'
import type { State } from './state.ts'

/** A worker tells of its devices, all of them or none. True if something changed that a plan should look at. */
export function hearDevices(state: State, id: string, news: readonly DeviceNews[]): boolean {
  const worker = state.workers.get(id)
  if (worker === undefined) return false
  const before = [...worker.deviceNews.keys()]
  worker.deviceNews.clear()
  for (const one of news) worker.deviceNews.set(one.uuid, one)
  const touched = new Set([...before, ...worker.deviceNews.keys()])
  return [...touched].filter(uuid => gather(state, uuid)).length > 0
}

/** A worker that cannot look into another's programs takes them for foreign, so the smallest amount is the true one; a fault is a fault for all. */
function gather(state: State, uuid: string): boolean {
  const told = state.fleet.hostsOf(uuid).flatMap(id => state.workers.get(id)?.deviceNews.get(uuid) ?? [])
  const amounts = told.flatMap(({ foreignMb }) => foreignMb ?? [])
  const fault = told.find(one => one.fault !== null)?.fault ?? null
  const foreignMb = amounts.length === 0 ? null : Math.min(...amounts)
  const before = state.deviceNews.get(uuid)
  if (told.length === 0) state.deviceNews.delete(uuid)
  else state.deviceNews.set(uuid, { uuid, foreignMb, fault })
  if ((before?.fault ?? null) === fault && (before?.foreignMb ?? null) === foreignMb) return false
  touchDevice(state, uuid)
  return true
}
