import { type Fence, fenceKey, type Hello, Refused } from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import { hearDevices } from '../device-news.ts'
import type { TokenState } from '../owner-things.ts'
import { claimKey, type Now, type State, type WorkerFacts, type WorkerState } from '../state.ts'
import type { Emit } from './emit.ts'
import { sameFacts } from './known-worker.ts'
import { loseAttempt } from './loss.ts'
import { resumeIfLost } from './report.ts'

type HelloCommand = Extract<Command, { kind: 'hello' }>
const MB = 1_000_000
/** Epochs are at least the second of their start: no honest worker is further ahead than a wrong clock of some years. */
const MAX_EPOCH_JUMP = 200_000_000

/** A worker says who it is and what it holds; both sides agree on every attempt before anything else is said. */
export function decideHello(
  state: State,
  command: HelloCommand,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['hello'] {
  const { hello } = command
  refuseFarAhead(hello.epochSeen, state)
  const known = state.workers.get(hello.workerId)
  const owner = known === undefined ? admit(state, command, now, emit) : authenticate(known, command)
  if (hello.epochSeen > state.epoch) emit.change({ c: 'epoch', epoch: hello.epochSeen + 1, at: now.wall })
  register(state, command, owner, now, emit)
  const worker = state.workers.get(hello.workerId)
  if (worker === undefined) throw new Error(`worker ${hello.workerId} vanished while registering`)
  // Its old connection is dead and the new one not yet open: an offer made now would reach neither.
  worker.connected = false
  hearDevices(state, worker.id, hello.devices ?? [])
  if (hello.draining !== worker.draining && hello.draining)
    emit.change({ c: 'workerDrained', id: worker.id, on: true, at: now.wall })
  // Only a hub restored from a backup knows less than it acknowledged: it takes the worker's word.
  if (hello.nextBatch > worker.batch + 1) emit.change({ c: 'batch', worker: worker.id, n: hello.nextBatch - 1 })
  const held = new Set(hello.holding.map(h => fenceKey(h.fence)))
  const reoffer = settleActive(worker, held, now, emit)
  const stale = settleHeld(state, worker, hello, now, emit)
  settleLost(worker, held, now, emit)
  return { ackedBatch: worker.batch, stale, reoffer, draining: worker.draining, epoch: state.epoch }
}

/** A hub restored from a backup on a machine with a slow clock may be behind what its workers saw; no attempt may ever be named twice. */
function refuseFarAhead(epochSeen: number, state: State): void {
  if (!Number.isSafeInteger(epochSeen) || epochSeen > state.epoch + MAX_EPOCH_JUMP) {
    throw new Refused(
      'request.invalid',
      `the worker saw epoch ${epochSeen}, this hub is at ${state.epoch}: they do not belong together`,
    )
  }
}

function authenticate(worker: WorkerState, { secretHash }: HelloCommand): string {
  if (worker.facts.secretHash !== secretHash) {
    throw new Refused(
      'auth.invalid',
      `worker ${worker.id} is registered with another secret; remove it on the hub or give this one a new data folder`,
    )
  }
  return worker.facts.owner
}

/** The join token is bound to the first worker that uses it, so repeating after a crash is safe and sharing is not. */
function admit(state: State, { hello, joinHash }: HelloCommand, now: Now, emit: Emit): string {
  const token = joinToken(state, joinHash)
  if (token === null || (token.expiresAt !== null && token.expiresAt <= now.wall)) {
    throw new Refused(
      'auth.invalid',
      `worker ${hello.workerId} is not known here and brings no valid join token; make one with: stoker token create --role join`,
    )
  }
  if (token.usedBy !== null && token.usedBy !== hello.workerId) {
    throw new Refused('auth.invalid', `the join token was used by worker ${token.usedBy}; each worker needs its own`)
  }
  if (token.usedBy === null) emit.change({ c: 'tokenUsed', id: token.id, by: hello.workerId, at: now.wall })
  return token.owner
}

function joinToken(state: State, hash: string | null): TokenState | null {
  const id = hash === null ? undefined : state.tokenByHash.get(hash)
  const token = id === undefined ? undefined : state.tokens.get(id)
  return token?.role === 'join' ? token : null
}

function register(state: State, { hello, secretHash }: HelloCommand, owner: string, now: Now, emit: Emit): void {
  const facts: WorkerFacts = {
    name: hasTwin(state, hello) ? `${hello.name}-${hello.workerId.slice(-4)}` : hello.name,
    version: hello.version,
    owner,
    tags: hello.tags,
    maxJobs: hello.maxJobs,
    window: hello.window,
    cpusMilli: Math.round(hello.cpus * 1000),
    memoryMb: Math.floor(hello.memoryBytes / MB),
    hardware: hello.hardware,
    abilities: abilitiesOf(hello),
    secretHash,
    bootId: hello.bootId,
  }
  const known = state.workers.get(hello.workerId)
  if (known !== undefined && sameFacts(known.facts, facts)) return
  emit.change({ c: 'worker', id: hello.workerId, ...facts, tags: [...facts.tags], at: now.wall })
}

/** Since protocol 1.2 a worker that runs programs can keep them as sessions. */
function abilitiesOf({ abilities, protocol }: Hello): Hello['abilities'] {
  const { executors } = abilities
  const isAble = protocol.minor >= 2 && executors.some(executor => executor === 'process' || executor === 'container')
  return isAble && !executors.includes('task') ? { ...abilities, executors: [...executors, 'task'] } : abilities
}

function hasTwin(state: State, { name, workerId }: Hello): boolean {
  for (const { id, facts } of state.workers.values()) if (facts.name === name && id !== workerId) return true
  return false
}

/** Attempts the hub believes in and the worker does not hold: never taken up → offered again; taken up → lost with the worker's memory of it. */
function settleActive(worker: WorkerState, held: ReadonlySet<string>, now: Now, emit: Emit): Fence[] {
  const reoffer: Fence[] = []
  for (const active of [...worker.active.values()]) {
    if (held.has(claimKey(active.claim))) continue
    if (active.state === 'leased') reoffer.push(fenceOf(active.claim))
    else {
      loseAttempt(active, `worker ${worker.facts.name} came back without it`, now, emit)
      const { job, epoch, attempt } = active.claim
      emit.change({ c: 'released', job, epoch, attempt, worker: worker.id, at: now.wall })
    }
  }
  return reoffer
}

/** Attempts the worker holds: current ones go on, lost ones resume if nobody took their place, all others are stale. */
function settleHeld(state: State, worker: WorkerState, hello: Hello, now: Now, emit: Emit): Fence[] {
  return hello.holding.flatMap(({ fence, state: held }) => {
    const active = state.active.get(fence.job)
    const isCurrent = active !== undefined && claimKey(active.claim) === fenceKey(fence)
    // Taken up, though the report that said so may have died with the worker's process.
    if (isCurrent && active.state === 'leased' && held !== 'ended')
      emit.change({ c: 'starting', job: fence.job, at: now.wall })
    // One that ended meanwhile goes on too: its end is about to be told, and the job must not start again before.
    if (!isCurrent && !resumeIfLost(state, worker, fence, now, emit)) return held === 'ended' ? [] : [fence]
    if (held === 'running') startSession(state, fence.job, now, emit)
    return []
  })
}

/** Tasks wait until their session runs: it does, though the report that said so died with the worker's process. */
function startSession(state: State, job: number, now: Now, emit: Emit): void {
  const active = state.active.get(job)
  if (active?.state === 'starting' && state.sessions.has(job))
    emit.change({ c: 'running', job, at: now.wall, isolation: null })
}

/** Lost attempts the worker no longer holds are over: their resources are free. */
function settleLost(worker: WorkerState, held: ReadonlySet<string>, now: Now, emit: Emit): void {
  for (const [key, { claim }] of [...worker.lost]) {
    if (!held.has(key))
      emit.change({
        c: 'released',
        job: claim.job,
        epoch: claim.epoch,
        attempt: claim.attempt,
        worker: worker.id,
        at: now.wall,
      })
  }
}

function fenceOf({ job, epoch, attempt }: Fence): Fence {
  return { job, epoch, attempt }
}
