import type { RowWrite } from '@stoker/protocol'
import { useOf } from './owner-use.ts'
import { countersOf, type State } from './state.ts'

/** Counters are written as they stand after the batch, once each however often they moved. */
export function projectCounters(state: State): RowWrite[] {
  return [...state.dirtyCounters].flatMap(([owner, moved]) => {
    const counters = countersOf(state, owner)
    return [...moved].map(
      (name): RowWrite => ({ op: 'put', table: 'counter', row: { owner, state: name, n: counters[name] } }),
    )
  })
}

/** What owners used, as it stands after the batch. */
export function projectOwnerUses(state: State): RowWrite[] {
  return [...state.dirtyOwners].map(owner => {
    const { average, at } = useOf(state, owner)
    return { op: 'put', table: 'ownerUse', row: { owner, average, at } }
  })
}
