import type { RowWrite } from '@stoker/protocol'
import { useOf } from './owner-use.ts'
import { countersOf, type State } from './state.ts'

/** Counters are written as they stand after the batch, once each however often they moved. */
export function projectCounters(state: State, rows: RowWrite[]): void {
  for (const [owner, moved] of state.dirtyCounters) {
    const counters = countersOf(state, owner)
    for (const name of moved) rows.push({ op: 'put', table: 'counter', row: { owner, state: name, n: counters[name] } })
  }
}

/** What owners used, as it stands after the batch. */
export function projectOwnerUses(state: State, rows: RowWrite[]): void {
  for (const owner of state.dirtyOwners) {
    const { average, at } = useOf(state, owner)
    rows.push({ op: 'put', table: 'ownerUse', row: { owner, average, at } })
  }
}
