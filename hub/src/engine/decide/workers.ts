import { Refused } from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import type { Emit } from './emit.ts'
import { knownWorker } from './known-worker.ts'
import { loseAttempt } from './loss.ts'
import { resumeIfLost } from './report.ts'

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>

/** What a worker can do has changed while it is connected. */
export function decideAbilities(
  state: State,
  { worker: id, abilities }: Of<'abilities'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['abilities'] {
  const { facts } = knownWorker(state, id)
  if (JSON.stringify(facts.abilities) === JSON.stringify(abilities)) return null
  emit.change({ c: 'worker', id, ...facts, tags: [...facts.tags], abilities, at: now.wall })
  return null
}

/** The worker leaves in order: what it still held is over, so its jobs need not wait for a lease. */
export function decideGoodbye(
  state: State,
  { worker: id, reason }: Of<'goodbye'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['goodbye'] {
  const worker = knownWorker(state, id)
  for (const active of [...worker.active.values()])
    loseAttempt(active, `worker ${worker.facts.name} left: ${reason}`, now, emit)
  for (const { claim } of [...worker.lost.values()]) {
    emit.change({ c: 'released', job: claim.job, epoch: claim.epoch, attempt: claim.attempt, worker: id, at: now.wall })
  }
  return null
}

export function decideReturned(
  state: State,
  { worker: id }: Of<'returned'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['returned'] {
  const worker = knownWorker(state, id)
  for (const { claim } of [...worker.lost.values()]) resumeIfLost(state, worker, claim, now, emit)
  return null
}

export function decideDrain(
  state: State,
  { worker: id, on }: Of<'drain'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['drain'] {
  const worker = knownWorker(state, id)
  if (worker.draining !== on) emit.change({ c: 'workerDrained', id, on, at: now.wall })
  return null
}

/** Only a worker that is away, or idle, can be removed: removing one at work would orphan its programs. The token it joined with goes too, or it would be back at once. */
export function decideRemoveWorker(
  state: State,
  { worker: id }: Of<'removeWorker'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['removeWorker'] {
  const worker = knownWorker(state, id)
  if (worker.connected && worker.active.size > 0) {
    throw new Refused(
      'worker.busy',
      `worker ${worker.facts.name} is connected and runs ${worker.active.size} jobs; drain it first`,
    )
  }
  for (const active of [...worker.active.values()])
    loseAttempt(active, `worker ${worker.facts.name} was removed`, now, emit)
  emit.change({ c: 'workerRemoved', id, at: now.wall })
  for (const token of [...state.tokens.values()])
    if (token.usedBy === id) emit.change({ c: 'tokenRevoked', id: token.id, at: now.wall })
  return null
}
