import type { Command, Facts, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import { decideCancel, decideWithdraw } from './cancel.ts'
import { decideQuarantine, decideReleaseDevice } from './devices.ts'
import type { Emit, Rules } from './emit.ts'
import { decideAsk, decideClaim, decideEnlist, decideLose, decideNote } from './foreign.ts'
import { decideForget } from './forget.ts'
import { decideCancelGroup } from './groups.ts'
import { decideHello } from './hello.ts'
import { decideHold, decideRelease } from './hold.ts'
import { decideSetLimits } from './limits.ts'
import { decidePriority } from './priority.ts'
import { decideReport } from './report.ts'
import { decideFire, decidePutSchedule, decideRemoveSchedule } from './schedules.ts'
import { decideReseal, decideSecretRemoved, decideSecretSet } from './secrets.ts'
import { decideEndSession, decideKeepSession, decideOutdateSession } from './sessions.ts'
import { decideSubmit } from './submit.ts'
import { decideTick } from './tick.ts'
import { decideToken, decideTokenRevoked } from './tokens.ts'
import { decideWebhook, decideWebhookRemoved, decideWebhookResealed } from './webhooks.ts'
import { decideAbilities, decideDrain, decideGoodbye, decideRemoveWorker, decideReturned } from './workers.ts'

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
  withdraw: decideWithdraw,
  endSession: decideEndSession,
  outdateSession: decideOutdateSession,
  keepSession: decideKeepSession,
  hold: decideHold,
  release: decideRelease,
  setPriority: decidePriority,
  hello: decideHello,
  report: decideReport,
  enlist: decideEnlist,
  note: decideNote,
  ask: decideAsk,
  claim: decideClaim,
  lose: decideLose,
  abilities: decideAbilities,
  goodbye: decideGoodbye,
  returned: decideReturned,
  tick: decideTick,
  drain: decideDrain,
  removeWorker: decideRemoveWorker,
  quarantine: decideQuarantine,
  releaseDevice: decideReleaseDevice,
  addToken: decideToken,
  revokeToken: decideTokenRevoked,
  addWebhook: decideWebhook,
  removeWebhook: decideWebhookRemoved,
  resealWebhook: decideWebhookResealed,
  cancelGroup: decideCancelGroup,
  setLimits: decideSetLimits,
  putSchedule: decidePutSchedule,
  removeSchedule: decideRemoveSchedule,
  fire: decideFire,
  setSecret: decideSecretSet,
  removeSecret: decideSecretRemoved,
  resealSecret: decideReseal,
  audit: (_state, { kind: _, ...entry }, _facts, now, emit) => {
    emit.change({ c: 'audited', ...entry, at: now.wall })
    return null
  },
  auditEnded: (_state, { id, status }, _facts, _now, emit) => {
    emit.change({ c: 'auditEnded', id, status })
    return null
  },
  forget: decideForget,
  rows: (_state, { rows }, _facts, _now, emit) => {
    emit.rows(rows)
    return null
  },
}
