import type { ChangeOf, JobRow, RowWrite } from '@stoker/protocol'
import type { State } from './state.ts'
import { stateAfter } from './waiting.ts'

type SubmittedJob = ChangeOf<'submitted'>['jobs'][number]

/** The causes a new job waits for. */
export function projectCauses({ seq, dependsOn = [], heldBy }: SubmittedJob): RowWrite[] {
  const edges = dependsOn.map(
    (edge): RowWrite => ({ op: 'insert', table: 'edge', row: { job: seq, dependency: edge.seq, kind: edge.on } }),
  )
  return heldBy === undefined ? edges : [...edges, { op: 'put', table: 'hold', row: { job: seq, by: heldBy } }]
}

/** A job that ends waits for nothing any more. */
export function projectNoCauses(job: number, state: State): RowWrite[] {
  const edges: RowWrite[] = state.edges.has(job) ? [{ op: 'delete', table: 'edge', key: { job } }] : []
  const isHeld = (state.waiting.get(job)?.heldBy ?? null) !== null
  return isHeld ? [...edges, { op: 'delete', table: 'hold', key: { job } }] : edges
}

export const WAITING_PROJECTORS = {
  due: (change: ChangeOf<'due'>, state: State): RowWrite[] => [
    setJob(change.job, { state: stateAfter(state, change), dueAt: null }),
  ],
  met: (change: ChangeOf<'met'>, state: State): RowWrite[] => {
    const { job, dependency } = change
    const gone: RowWrite = { op: 'delete', table: 'edge', key: { job, dependency } }
    return stateAfter(state, change) === 'queued' ? [gone, setJob(job, { state: 'queued' })] : [gone]
  },
  held: ({ job, by }: ChangeOf<'held'>): RowWrite[] => [
    { op: 'put', table: 'hold', row: { job, by } },
    setJob(job, { state: 'waiting' }),
  ],
  holdLifted: (change: ChangeOf<'holdLifted'>, state: State): RowWrite[] => [
    { op: 'delete', table: 'hold', key: { job: change.job } },
    setJob(change.job, { state: stateAfter(state, change) }),
  ],
  priority: ({ job, bucket, priority }: ChangeOf<'priority'>): RowWrite[] => [setJob(job, { bucket, priority })],
}

export function setJob(seq: number, set: Partial<JobRow>): RowWrite {
  return { op: 'update', table: 'job', key: { seq }, set }
}
