import { Refused, type Schedule } from '@stoker/protocol'
import type { ScheduleState } from '../engine/schedules.ts'
import type { Caller } from './auth.ts'
import type { ApiContext } from './context.ts'
import { isoTime, isoTimeOrNull } from './iso-time.ts'

/** The schedule a path names by its id or, among the caller's own, its name; one of another owner does not exist for the caller. */
export async function findSchedule(engine: ApiContext['engine'], caller: Caller, ref: string): Promise<ScheduleState> {
  const found = await engine.read(state => {
    const byId = state.schedules.get(ref.toLowerCase())
    if (byId !== undefined) return [byId]
    const named = [...state.schedules.values()].filter(one => one.name === ref)
    const own = named.filter(one => one.owner === caller.owner)
    return own.length > 0 ? own : named
  })
  const seen = found.filter(one => caller.role === 'admin' || one.owner === caller.owner)
  const [schedule] = seen
  if (seen.length > 1)
    throw new Refused('request.invalid', `${seen.length} owners have a schedule of this name; give its id`)
  if (schedule !== undefined) return schedule
  const shown = JSON.stringify(ref.slice(0, 80))
  throw new Refused('schedule.not_found', `no schedule you may see has the id or name ${shown}`)
}

export function viewSchedule(row: ScheduleState): Schedule {
  const { id, name, owner, cron, timezone, overlap, catchUp, runs, lastJob, lastGroup, lastAt, lastOutcome } = row
  return {
    ...{ id, name, owner, cron, timezone, overlap, catchUp, runs, lastJob, lastGroup },
    enabled: row.enabled === 1,
    createdAt: isoTime(row.createdAt),
    nextAt: isoTimeOrNull(row.nextAt),
    last:
      lastAt === null || lastOutcome === null
        ? null
        : { at: isoTime(lastAt), outcome: lastOutcome, reason: row.lastReason },
  }
}
