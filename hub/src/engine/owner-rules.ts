import type { ChangeOf, RowWrite } from '@stoker/protocol'
import { firedSet, scheduleAfter } from './schedules.ts'
import type { State } from './state.ts'

type Kind = 'ownerLimits' | 'schedule' | 'scheduleRemoved' | 'fired'

/** What an owner is subject to besides their jobs, in memory. */
export const applyOwnerRules: { readonly [C in Kind]: (state: State, change: ChangeOf<C>) => void } = {
  ownerLimits: (state, { owner, limits }) => {
    if (isNone(limits)) state.limits.delete(owner)
    else state.limits.set(owner, limits)
    state.woken.add(owner)
  },
  schedule: (state, change) => {
    state.schedules.set(change.id, scheduleAfter(change, state.schedules.get(change.id)))
  },
  scheduleRemoved: (state, { id }) => {
    state.schedules.delete(id)
  },
  fired: (state, change) => {
    const known = state.schedules.get(change.schedule)
    if (known !== undefined) state.schedules.set(known.id, { ...known, ...firedSet(change, known) })
  },
}

/** And in rows. */
export const projectOwnerRules: { readonly [C in Kind]: (change: ChangeOf<C>, state: State) => RowWrite[] } = {
  ownerLimits: ({ owner, limits }) => [
    isNone(limits)
      ? { op: 'delete', table: 'ownerLimits', key: { owner } }
      : { op: 'put', table: 'ownerLimits', row: { owner, ...limits } },
  ],
  schedule: (change, state) => {
    const row = { ...scheduleAfter(change, state.schedules.get(change.id)), spec: change.spec }
    return [{ op: 'put', table: 'schedule', row }]
  },
  scheduleRemoved: ({ id }) => [{ op: 'delete', table: 'schedule', key: { id } }],
  fired: (change, state) => {
    const known = state.schedules.get(change.schedule)
    if (known === undefined) return []
    return [{ op: 'update', table: 'schedule', key: { id: known.id }, set: firedSet(change, known) }]
  },
}

function isNone(limits: ChangeOf<'ownerLimits'>['limits']): boolean {
  return Object.values(limits).every(limit => limit === null)
}
