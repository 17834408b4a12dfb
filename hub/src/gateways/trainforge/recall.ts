import { type Fence, fenceKey } from '@stoker/protocol'
import type { ActiveJob, LostAttempt, State, WorkerState } from '../../engine/state.ts'
import { attemptId } from './attempt-id.ts'
import type { TrainForgeContext } from './context.ts'
import { type KnownWorker, Ledger } from './ledger.ts'
import { type HeldNote, readNote } from './note.ts'
import { ADOPTED } from './registration.ts'
import type { Held } from './rules/held.ts'
import { USUAL_SETTINGS } from './worker-facts.ts'

interface Claimed {
  readonly fence: Fence
  readonly gpus: number
  readonly state: 'leased' | 'running' | 'lost'
  readonly timeoutMs: number | null
  readonly note: HeldNote | undefined
}

/** The book as the last hub process left it; everything gets its full time from now. */
export async function recall({ engine, queries, clock }: TrainForgeContext): Promise<Ledger> {
  const now = clock().lease
  const found = await engine.read(state =>
    [...state.workers.values()]
      .filter(({ facts }) => facts.dialect?.name === 'trainforge')
      .map(worker => ({ worker: known(worker, now), claims: claimsOf(state, worker) })),
  )
  const rows = await queries.offers(found.flatMap(({ claims }) => claims.map(({ fence }) => fence.job)))
  const ids = new Map(rows.map(({ seq, id }) => [seq, id]))
  const ledger = new Ledger()
  for (const { worker, claims } of found) {
    ledger.put(worker)
    for (const claim of claims) {
      const job = ids.get(claim.fence.job)
      if (job !== undefined) ledger.hold(worker, heldAgain(claim, job, now))
    }
  }
  return ledger
}

function known({ id: key, facts, note }: WorkerState, now: number): KnownWorker {
  const kept = readNote(note)
  return {
    ...aWorker(facts.name, key, facts.owner, now),
    told: kept?.told ?? { ...ADOPTED, maxJobs: facts.maxJobs },
    address: kept?.address ?? '',
    settings: kept?.settings ?? USUAL_SETTINGS,
    declines: kept?.declines ?? 0,
    conflict: kept?.conflict ?? null,
  }
}

/** One nobody has heard of before. */
export function aWorker(id: string, key: string, owner: string, now: number): KnownWorker {
  return {
    id,
    key,
    owner,
    told: ADOPTED,
    address: '',
    settings: USUAL_SETTINGS,
    declines: 0,
    declinedAt: Number.NEGATIVE_INFINITY,
    conflict: null,
    conflictAt: now,
    doubt: null,
    remarks: '',
    heardAt: now,
    seen: null,
    polledAt: Number.NEGATIVE_INFINITY,
    fastPolls: 0,
    excess: null,
    held: new Map(),
    lingering: new Map(),
    turn: Promise.resolve(),
  }
}

function claimsOf(state: State, { active, lost, note }: WorkerState): Claimed[] {
  const notes = new Map((readNote(note)?.held ?? []).map(held => [fenceKey(held), held]))
  const claimed = (each: ActiveJob | LostAttempt, isLost: boolean): Claimed => {
    const { job, epoch, attempt, gpus } = each.claim
    const fence = { job, epoch, attempt }
    const bucket = state.active.get(job)?.bucket ?? state.queued.get(job)?.bucket ?? -1
    const timeoutMs = state.buckets.get(bucket)?.terms.timeoutMs ?? null
    const running = each.runningAt === null ? 'leased' : 'running'
    return {
      fence,
      gpus: gpus.length,
      timeoutMs,
      state: isLost ? 'lost' : running,
      note: notes.get(fenceKey(fence)),
    }
  }
  return [
    ...[...active.values()].map(each => claimed(each, false)),
    ...[...lost.values()].map(each => claimed(each, true)),
  ]
}

function heldAgain({ fence, gpus, state, timeoutMs, note }: Claimed, job: string, now: number): Held {
  const isGiven = note?.isGiven ?? false
  const phase = state === 'lost' ? 'lost' : state === 'running' ? 'running' : isGiven ? 'offered' : 'preparing'
  return {
    id: attemptId(job, fence.attempt),
    fence,
    phase,
    gpus,
    timeoutMs,
    isUnconfirmed: phase === 'offered',
    since: now,
    polledAt: null,
    checkedInAt: note?.isHeard === true ? now : null,
    runner: note?.runner ?? '',
  }
}
