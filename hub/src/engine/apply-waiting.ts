import type { ChangeOf } from '@stoker/protocol'
import { dequeue, enqueue } from './queue.ts'
import type { State, WaitingJob } from './state.ts'
import { bucketOf, countMove } from './tally.ts'
import { dropEdge, hasCause, putWaiting, takeWaiting, waitingOf } from './waiting.ts'

type SubmittedJob = ChangeOf<'submitted'>['jobs'][number]

export function isBornWaiting({ dependsOn, heldBy }: SubmittedJob): boolean {
  return heldBy !== undefined || (dependsOn !== undefined && dependsOn.length > 0)
}

export function addWaiting(state: State, { seq, bucket, dependsOn = [], heldBy }: SubmittedJob): void {
  for (const edge of dependsOn) state.edges.add({ job: seq, dependency: edge.seq, id: edge.id, kind: edge.on })
  putWaiting(state, { seq, bucket, attempts: 0, failures: 0, lost: 0, dueAt: null, heldBy: heldBy ?? null })
}

export const WAITING_APPLIERS = {
  due: (state: State, { job }: ChangeOf<'due'>): void => {
    putWaiting(state, { ...waitingOf(state, job), dueAt: null })
    queueIfFree(state, job)
  },
  met: (state: State, { job, dependency }: ChangeOf<'met'>): void => {
    dropEdge(state, job, dependency)
    queueIfFree(state, job)
  },
  held: applyHeld,
  holdLifted: (state: State, { job }: ChangeOf<'holdLifted'>): void => {
    putWaiting(state, { ...waitingOf(state, job), heldBy: null })
    queueIfFree(state, job)
  },
  priority: applyPriority,
}

/** A queued job steps out of its queue; one that waits already has one cause more. */
function applyHeld(state: State, { job, by }: ChangeOf<'held'>): void {
  const known = state.waiting.get(job)
  if (known !== undefined) {
    putWaiting(state, { ...known, heldBy: by })
    return
  }
  const queued = dequeue(state, job)
  countMove(state, queued.bucket, 'queued', 'waiting')
  putWaiting(state, { ...queued, dueAt: null, heldBy: by })
}

/** The job keeps its age: it stands in the other queue as if it had always been there. */
function applyPriority(state: State, { job, bucket }: ChangeOf<'priority'>): void {
  const waiting = state.waiting.get(job)
  const before = waiting?.bucket ?? state.queued.get(job)?.bucket
  if (before === undefined) throw new Error(`job ${job} is neither queued nor waiting`)
  if (waiting !== undefined) putWaiting(state, { ...waiting, bucket })
  else {
    enqueue(state, { ...dequeue(state, job), bucket })
  }
  bucketOf(state, before).live -= 1
  bucketOf(state, bucket).live += 1
}

function queueIfFree(state: State, job: number): void {
  const waiting: WaitingJob = waitingOf(state, job)
  if (hasCause(state, waiting)) return
  takeWaiting(state, job)
  const { seq, bucket, attempts, failures, lost } = waiting
  countMove(state, bucket, 'waiting', 'queued')
  enqueue(state, { seq, bucket, attempts, failures, lost })
}
