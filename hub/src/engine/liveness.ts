import { hearDevices } from './device-news.ts'
import { wakeSessionsOn } from './sessions.ts'
import type { Now, State, WorkerState } from './state.ts'

/** A worker silent this long gets nothing new, though its leases still hold. */
const QUIET_MS = 9_000

/** Whether a worker has been silent too long to be given work. */
export function isQuiet(worker: WorkerState, now: Now): boolean {
  return worker.mistrusted || !(now.lease - worker.heardAt < (worker.facts.dialect?.quietMs ?? QUIET_MS))
}

/** Any message renews all leases of its worker. Tells if it had been quiet, so that a plan may now find room, and if it lost attempts meanwhile that may go on. */
export function hear(state: State, id: string, now: Now): { readonly wasQuiet: boolean; readonly mayResume: boolean } {
  const worker = state.workers.get(id)
  if (worker === undefined) return { wasQuiet: false, mayResume: false }
  const wasQuiet = isQuiet(worker, now)
  const mayResume = worker.mistrusted
  worker.heardAt = now.lease
  worker.seenAt = now.wall
  worker.mistrusted = false
  if (wasQuiet) {
    state.dirtyWorkers.add(id)
    wakeSessionsOn(state, id)
  }
  return { wasQuiet, mayResume }
}

export function setConnected(state: State, id: string, connected: boolean): void {
  const worker = state.workers.get(id)
  if (worker === undefined) return
  worker.connected = connected
  if (!connected) hearDevices(state, id, [])
  if (!connected) return
  state.dirtyWorkers.add(id)
  wakeSessionsOn(state, id)
}

/** After memory was rebuilt in a running hub: connections and leases are as they were. */
export function carryLiveness(from: State, to: State): void {
  to.runTimes.takeOver(from.runTimes)
  for (const [seq, session] of to.sessions) {
    const before = from.sessions.get(seq)
    if (before === undefined) continue
    const { readyAt, activeAt, quietSince, isOutdated } = before
    Object.assign(session, { readyAt, activeAt, quietSince, isOutdated })
  }
  for (const [id, worker] of to.workers) {
    const before = from.workers.get(id)
    if (before === undefined) {
      // Its removal was not written: a connection it has still stands; if it has none, its silence will tell.
      worker.connected = true
      continue
    }
    worker.connected = before.connected
    worker.heardAt = before.heardAt
    worker.seenAt = before.seenAt
    hearDevices(to, id, [...before.deviceNews.values()])
  }
}
