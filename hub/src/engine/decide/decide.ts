import { type Change, Refused, type RowWrite } from '@stoker/protocol'
import type { Command, Facts, NewJob, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import { decideCancel } from './cancel.ts'
import { decideHello } from './hello.ts'
import { decideReport } from './report.ts'
import { decideSubmit } from './submit.ts'
import { decideTick } from './tick.ts'
import { decideToken, decideTokenRevoked } from './tokens.ts'
import { decideDrain, decideGoodbye, decideRemoveWorker, decideReturned } from './workers.ts'

/** What the scheduler tells the engine when it decides: why no worker that exists could ever run a shape, or null. */
export interface Rules {
  readonly unschedulable: (state: State, bucket: number) => string | null
  readonly unschedulableSpec: (state: State, job: NewJob) => string | null
}

/** The result of one command: facts to make durable, and what its asker learns afterwards. Decisions see each other's changes through `commit`. */
export interface Decision<K extends Command['kind']> {
  readonly reply: Replies[K]
}

/** Hands each change to the engine, which applies it at once: later decisions of the batch see it. */
export interface Emit {
  change(change: Change): void
  /** New jobs' specs and labels, for their rows. */
  submission(seq: number, job: NewJob): void
  rows(rows: readonly RowWrite[]): void
}

type Deciders = {
  readonly [K in Command['kind']]: (
    state: State,
    command: Extract<Command, { kind: K }>,
    facts: Facts,
    now: Now,
    emit: Emit,
    rules: Rules,
  ) => Replies[K]
}

/** Pure: reads state, command, facts and time; says what happened through `emit`. Throws Refused before emitting anything. */
export function decide<K extends Command['kind']>(
  state: State,
  command: Extract<Command, { kind: K }>,
  facts: Facts,
  now: Now,
  emit: Emit,
  rules: Rules,
): Replies[K] {
  return (DECIDERS[command.kind as K] as Deciders[K])(state, command, facts, now, emit, rules)
}

const DECIDERS: Deciders = {
  submit: decideSubmit,
  cancel: decideCancel,
  hello: decideHello,
  report: decideReport,
  goodbye: decideGoodbye,
  returned: decideReturned,
  tick: decideTick,
  drain: decideDrain,
  removeWorker: decideRemoveWorker,
  addToken: decideToken,
  revokeToken: decideTokenRevoked,
  rows: (_state, { rows }, _facts, _now, emit) => {
    emit.rows(rows)
    return null
  },
}

export function knownWorker(state: State, id: string) {
  const worker = state.workers.get(id)
  if (worker === undefined) throw new Refused('worker.not_found', `no worker has the id ${id}`)
  return worker
}
