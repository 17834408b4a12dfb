import type { Command, Facts, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import { decideCancel } from './cancel.ts'
import type { Emit, Rules } from './emit.ts'
import { decideForget } from './forget.ts'
import { decideHello } from './hello.ts'
import { decideReport } from './report.ts'
import { decideSubmit } from './submit.ts'
import { decideTick } from './tick.ts'
import { decideToken, decideTokenRevoked } from './tokens.ts'
import { decideDrain, decideGoodbye, decideRemoveWorker, decideReturned } from './workers.ts'

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
  forget: decideForget,
  rows: (_state, { rows }, _facts, _now, emit) => {
    emit.rows(rows)
    return null
  },
}
