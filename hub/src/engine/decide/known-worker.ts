import { Refused } from '@stoker/protocol'
import type { State, WorkerState } from '../state.ts'

export function knownWorker(state: State, id: string): WorkerState {
  const worker = state.workers.get(id)
  if (worker === undefined) throw new Refused('worker.not_found', `no worker has the id ${id}`)
  return worker
}
