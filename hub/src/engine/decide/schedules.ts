import { type ProblemCode, Refused } from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import type { ScheduleState } from '../schedules.ts'
import type { Now, State } from '../state.ts'
import { decideCancel } from './cancel.ts'
import type { Emit, Rules } from './emit.ts'
import { cancelMembers } from './groups.ts'
import { decideSubmit, refuseSubmit } from './submit.ts'

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>

export function decidePutSchedule(
  state: State,
  { kind: _, ...schedule }: Of<'putSchedule'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['putSchedule'] {
  for (const { id, owner, name } of state.schedules.values()) {
    if (owner === schedule.owner && name === schedule.name && id !== schedule.id)
      throw new Refused('schedule.name_taken', `${owner} has a schedule named "${name}" already, with the id ${id}`)
  }
  emit.change({ c: 'schedule', ...schedule, at: now.wall })
  return null
}

export function decideRemoveSchedule(
  state: State,
  { id }: Of<'removeSchedule'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['removeSchedule'] {
  known(state, id)
  emit.change({ c: 'scheduleRemoved', id, at: now.wall })
  return null
}

/** A due time fires once, whoever asks and however often: the durable next time is the fence. A run someone asked for has no due time. */
export function decideFire(
  state: State,
  command: Of<'fire'>,
  facts: Facts,
  now: Now,
  emit: Emit,
  rules: Rules,
): Replies['fire'] {
  const schedule = known(state, command.schedule)
  const { dueAt, jobs, groups } = command
  if (dueAt !== null && (schedule.enabled === 0 || schedule.nextAt !== dueAt)) return { outcome: null }
  const nextAt = dueAt === null ? schedule.nextAt : command.nextAt
  const fired = { c: 'fired', schedule: schedule.id, dueAt, nextAt, at: now.wall } as const
  const [outcome, reason, code] = verdict(state, schedule, command)
  if (outcome !== 'submitted') {
    if (dueAt === null) throw new Refused(code, reason)
    emit.change({ ...fired, outcome, reason, seq: null, jobId: null, groupId: null })
    return { outcome }
  }
  if (schedule.overlap === 'replace') endLastRun(state, schedule, facts, now, emit)
  const submit = { kind: 'submit', owner: schedule.owner, jobs, groups, key: null, failFast: false } as const
  const { firstSeq } = decideSubmit(state, submit, facts, now, emit, rules)
  const ids = { seq: firstSeq, jobId: jobs[0]?.id ?? null, groupId: groups[0]?.id ?? null }
  emit.change({ ...fired, outcome, reason: null, ...ids })
  return { outcome }
}

type Verdict = readonly ['submitted'] | readonly ['skipped' | 'missed' | 'refused', string, ProblemCode]

function verdict(state: State, schedule: ScheduleState, { missed, refused, jobs }: Of<'fire'>): Verdict {
  if (missed !== null) return ['missed', missed, 'schedule.overlap']
  if (refused !== null) return ['refused', refused, 'spec.invalid']
  if (schedule.overlap === 'skip' && isAtWork(state, schedule))
    return ['skipped', `the run before, job ${schedule.lastJob}, has not ended; overlap is "skip"`, 'schedule.overlap']
  try {
    refuseSubmit(state, { owner: schedule.owner, jobs })
    return ['submitted']
  } catch (error) {
    if (error instanceof Refused) return ['refused', error.message, error.code]
    throw error
  }
}

function isAtWork(state: State, { lastSeq, lastGroup }: ScheduleState): boolean {
  if (lastGroup !== null) return state.groups.has(lastGroup)
  return lastSeq !== null && (state.queued.has(lastSeq) || state.waiting.has(lastSeq) || state.active.has(lastSeq))
}

function endLastRun(state: State, schedule: ScheduleState, facts: Facts, now: Now, emit: Emit): void {
  const by = `schedule ${schedule.name}`
  const group = schedule.lastGroup === null ? undefined : state.groups.get(schedule.lastGroup)
  if (group !== undefined) cancelMembers(state, group, by, facts, now, emit)
  else if (schedule.lastSeq !== null)
    decideCancel(state, { kind: 'cancel', job: schedule.lastSeq, by }, facts, now, emit)
}

function known(state: State, id: string): ScheduleState {
  const schedule = state.schedules.get(id)
  if (schedule !== undefined) return schedule
  throw new Refused('schedule.not_found', `no schedule has the id ${id}`)
}
