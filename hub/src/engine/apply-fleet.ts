import type { ChangeOf } from '@stoker/protocol'
import { freeDevices, touchDevice, touchWorker, workerOf } from './claims.ts'
import { giveUse, settleUseOf } from './owner-use.ts'
import { givePlace, wakeSessionsOn } from './sessions.ts'
import type { State, WorkerState } from './state.ts'
import { classKeyOf } from './worker-class.ts'

/** Facts about workers and their devices. */
export const FLEET_APPLIERS = {
  worker: applyWorker,
  workerNoted: (state: State, { id, note }: ChangeOf<'workerNoted'>): void => {
    workerOf(state, id).note = note
  },
  workerDrained: (state: State, { id, on }: ChangeOf<'workerDrained'>): void => {
    workerOf(state, id).draining = on
    state.dirtyWorkers.add(id)
    wakeSessionsOn(state, id)
  },
  workerRemoved: (state: State, { id, at }: ChangeOf<'workerRemoved'>): void => {
    const { facts, lost } = workerOf(state, id)
    for (const { claim } of lost.values()) {
      settleUseOf(state, claim, at, false)
      giveUse(state, claim)
      freeDevices(state, claim)
      givePlace(state, claim, at)
    }
    state.workers.delete(id)
    state.fleet.remove(id, facts)
    state.untouched.leave(id)
    state.dirtyWorkers.delete(id)
  },
  deviceQuarantined: (state: State, { uuid, reason, by, at }: ChangeOf<'deviceQuarantined'>): void => {
    state.quarantined.set(uuid, { reason, by, at })
    touchDevice(state, uuid)
  },
  deviceReleased: (state: State, { uuid }: ChangeOf<'deviceReleased'>): void => {
    state.quarantined.delete(uuid)
    touchDevice(state, uuid)
  },
  batch: (state: State, { worker, n }: ChangeOf<'batch'>): void => {
    workerOf(state, worker).batch = n
  },
}

function applyWorker(state: State, { c: _, id, at, ...facts }: ChangeOf<'worker'>): void {
  const known = state.workers.get(id)
  const worker: WorkerState = known ?? {
    id,
    registeredAt: at,
    facts,
    classKey: '',
    draining: false,
    batch: 0,
    note: null,
    active: new Map(),
    lost: new Map(),
    cpusMilliFree: 0,
    memoryMbFree: 0,
    slotsFree: 0,
    connected: false,
    heardAt: Number.NaN,
    seenAt: null,
    leased: 0,
    mistrusted: false,
    asks: 0,
    coolDown: new Map(),
    deviceNews: new Map(),
  }
  if (known !== undefined) state.fleet.remove(id, known.facts)
  state.fleet.add(id, facts)
  worker.facts = facts
  worker.classKey = classKeyOf(facts)
  recountFree(worker)
  state.workers.set(id, worker)
  state.untouched.join(worker)
  touchWorker(state, worker)
  for (const { uuid } of facts.hardware.gpus) if (state.fleet.isShared(uuid)) touchDevice(state, uuid)
}

function recountFree(worker: WorkerState): void {
  const claims = [...worker.active.values(), ...worker.lost.values()]
    .map(({ claim }) => claim)
    .filter(({ session }) => session === null)
  worker.cpusMilliFree = worker.facts.cpusMilli - claims.reduce((sum, c) => sum + c.cpusMilli, 0)
  worker.memoryMbFree = worker.facts.memoryMb - claims.reduce((sum, c) => sum + c.memoryMb, 0)
  worker.slotsFree = worker.facts.maxJobs - claims.length
}
