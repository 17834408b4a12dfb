import { type Fence, type JobRow, sameFence } from '@stoker/protocol'
import type { ActiveJob, State } from '../../engine/state.ts'
import type { Standing } from './completion.ts'
import type { QubixContext } from './context.ts'
import { readNote } from './provider-note.ts'

export interface JobStanding {
  readonly standing: Standing
  readonly seq: number
  /** Of its own attempt, present or lost. */
  readonly fence: Fence | null
  readonly active: ActiveJob | null
  /** How the job ended, or waits. */
  readonly row: JobRow | null
}

type Ports = Pick<QubixContext, 'engine' | 'queries'>

const JOB_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** How the job stands to the worker; null if there is no such job. */
export async function standingOf(ports: Ports, worker: string, id: string): Promise<JobStanding | null> {
  const row = JOB_ID.test(id) ? await ports.queries.jobById(id) : null
  return row === null ? null : standingBySeq(ports, worker, row.seq)
}

export async function standingBySeq(
  { engine, queries }: Ports,
  worker: string,
  seq: number,
): Promise<JobStanding | null> {
  const live = await engine.read(state => liveStanding(state, worker, seq))
  if (live !== null && live.standing !== 'queued') return live
  const [row] = await queries.jobsBySeq([seq])
  if (row === undefined) return null
  if (live !== null && !isOwnEnd(row, worker)) return live
  const hadIt = row.worker === worker || (await queries.attemptsOf(seq)).some(each => each.worker === worker)
  return { standing: hadIt ? 'over' : 'foreign', seq, fence: null, active: null, row }
}

/** It ended the last attempt itself: the job is not simply unassigned to it. */
function isOwnEnd({ worker, attemptState, outcome }: JobRow, id: string): boolean {
  return worker === id && attemptState === 'ended' && outcome !== 'lost' && outcome !== 'declined'
}

/** Null: the job waits or has ended. */
function liveStanding(state: State, worker: string, seq: number): JobStanding | null {
  const active = state.active.get(seq)
  if (active !== undefined) {
    const { claim, cancelBy } = active
    if (claim.worker !== worker) return { standing: 'foreign', seq, fence: null, active: null, row: null }
    const held = readNote(state.workers.get(worker)?.note ?? null)?.held ?? null
    const isHeld = held !== null && sameFence(held, claim)
    const standing = cancelBy !== null ? 'canceled' : isHeld ? 'held' : 'mine'
    return { standing, seq, fence: fenceOf(claim), active, row: null }
  }
  const queued = state.queued.get(seq)
  if (queued === null) return null
  const lost = [...(state.workers.get(worker)?.lost.values() ?? [])].find(
    ({ claim }) => claim.job === seq && claim.attempt === queued.attempts,
  )
  const fence = lost === undefined ? null : fenceOf(lost.claim)
  return { standing: fence === null ? 'queued' : 'lost', seq, fence, active: null, row: null }
}

export function fenceOf({ job, epoch, attempt }: Fence): Fence {
  return { job, epoch, attempt }
}
