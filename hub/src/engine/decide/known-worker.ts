import { Refused } from '@stoker/protocol'
import type { State, WorkerFacts, WorkerState } from '../state.ts'

export function knownWorker(state: State, id: string): WorkerState {
  const worker = state.workers.get(id)
  if (worker === undefined) throw new Refused('worker.not_found', `no worker has the id ${id}`)
  return worker
}

/** Facts that were read from rows name the same things in another order. */
export function sameFacts(known: WorkerFacts, facts: WorkerFacts): boolean {
  const names = Object.keys(facts) as (keyof WorkerFacts)[]
  return names.every(name => JSON.stringify(known[name]) === JSON.stringify(facts[name]))
}
