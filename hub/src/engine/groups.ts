import type { ChangeOf, GroupRow, JobState, RowWrite } from '@stoker/protocol'
import type { State } from './state.ts'

/** A group some member of which has not ended; the others are rows only. */
export interface GroupState {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly firstSeq: number
  readonly size: number
  readonly maxParallel: number | null
  readonly counts: Record<JobState, number>
  /** Attempts of members that hold resources, lost ones included. */
  claims: number
}

export function addGroup(state: State, group: Omit<ChangeOf<'group'>, 'c' | 'retryOf' | 'at'>): GroupState {
  const { id, owner, name, firstSeq, size, maxParallel } = group
  const counts = { waiting: 0, queued: 0, active: 0, succeeded: 0, failed: 0, canceled: 0, timed_out: 0 }
  const added: GroupState = { id, owner, name, firstSeq, size, maxParallel, counts, claims: 0 }
  state.groups.set(id, added)
  return added
}

/** A group leaves memory with the end of its last member; its row is written with the batch. */
export function countInGroup(state: State, id: string | null, from: JobState | null, to: JobState): void {
  const group = id === null ? undefined : state.groups.get(id)
  if (group === undefined) return
  if (from !== null) group.counts[from] -= 1
  group.counts[to] += 1
  state.dirtyGroups.add(group)
  if (from !== null && !isLive(group)) state.groups.delete(group.id)
}

export function groupRow({ id, owner, name, firstSeq, size, maxParallel, retryOf, at }: ChangeOf<'group'>): GroupRow {
  const none = { waiting: 0, queued: 0, active: 0, succeeded: 0, failed: 0, canceled: 0, timed_out: 0 }
  return { id, owner, name, firstSeq, size, maxParallel, retryOf, submittedAt: at, endedAt: null, ...none }
}

/** Counts are written as they stand after the batch, once however many members moved. */
export function projectGroups(state: State, at: number, rows: RowWrite[]): void {
  for (const group of state.dirtyGroups) {
    const set = { ...group.counts, endedAt: isLive(group) ? null : at }
    rows.push({ op: 'update', table: 'jobGroup', key: { id: group.id }, set })
  }
}

export function restoreGroup(state: State, row: GroupRow): void {
  const { counts } = addGroup(state, row)
  for (const name of Object.keys(counts) as JobState[]) counts[name] = row[name]
}

function isLive({ counts }: GroupState): boolean {
  return counts.waiting + counts.queued + counts.active > 0
}
