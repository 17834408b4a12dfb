import { Refused, sameFence } from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import { hear } from '../liveness.ts'
import type { Now, State, WorkerFacts } from '../state.ts'
import type { Emit, Rules } from './emit.ts'
import { knownWorker, sameFacts } from './known-worker.ts'
import { loseAttempt } from './loss.ts'

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>

/** No hello can ever match it: only its gateway speaks for such a worker. */
const NO_SECRET = ''

export function decideEnlist(
  state: State,
  { worker: id, facts: told }: Of<'enlist'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['enlist'] {
  const known = state.workers.get(id)
  if (known !== undefined && known.facts.dialect?.name !== told.dialect?.name) {
    const speaks = known.facts.dialect?.name ?? 'our own protocol'
    throw new Refused('worker.duplicate', `worker ${id} speaks ${speaks}, now ${told.dialect?.name ?? 'our own'} came`)
  }
  const facts: WorkerFacts = { ...told, secretHash: NO_SECRET }
  if (known === undefined || !sameFacts(known.facts, facts))
    emit.change({ c: 'worker', id, ...facts, tags: [...facts.tags], at: now.wall })
  return null
}

export function decideNote(
  state: State,
  { worker: id, note }: Of<'note'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['note'] {
  if (JSON.stringify(knownWorker(state, id).note) !== JSON.stringify(note))
    emit.change({ c: 'workerNoted', id, note, at: now.wall })
  return null
}

/** Volatile: the plan that ends this batch sees the wish, and no later one. */
export function decideAsk(
  state: State,
  { worker: id, most }: Of<'ask'>,
  _facts: Facts,
  now: Now,
  _emit: Emit,
): Replies['ask'] {
  const worker = knownWorker(state, id)
  hear(state, id, now)
  worker.connected = true
  worker.asks = most
  state.askers.add(id)
  state.dirtyWorkers.add(id)
  return null
}

export function decideClaim(
  state: State,
  { worker, job }: Of<'claim'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
  rules: Rules,
): Replies['claim'] {
  const { id } = knownWorker(state, worker)
  const held = state.active.get(job)?.claim
  if (held !== undefined && held.worker === id) return { fence: fenceOf(held) }
  if (held !== undefined) throw new Refused('job.taken', `job ${job} is with worker ${held.worker}, ${id} wants it`)
  const queued = state.queued.get(job)
  if (queued === null) throw new Refused('job.taken', `job ${job} is not queued, so no worker can take it`)
  const found = rules.claimable(state, job, id, now)
  if ('refused' in found) throw new Refused('job.taken', found.refused)
  const fence = { job, epoch: state.epoch, attempt: queued.attempts + 1 }
  emit.change({ c: 'placed', ...fence, worker: id, gpus: [...found.gpus], at: now.wall })
  return { fence }
}

export function decideLose(
  state: State,
  { fence, reason, most }: Of<'lose'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['lose'] {
  const active = state.active.get(fence.job)
  if (active !== undefined && sameFence(active.claim, fence)) loseAttempt(active, reason, now, emit, most)
  return null
}

function fenceOf({ job, epoch, attempt }: { readonly job: number; readonly epoch: number; readonly attempt: number }) {
  return { job, epoch, attempt }
}
