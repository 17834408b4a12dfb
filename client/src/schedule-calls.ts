import { type NewSchedule, Schedule, type ScheduleChanges, ScheduleDetail, SchedulePage } from '@stoker/protocol'
import type { Caller } from './caller.ts'
import { queryText } from './query.ts'

/** What can be asked about schedules, by id or name. */
export function scheduleCalls(caller: Caller) {
  const path = (ref: string) => `/api/v1/schedules/${encodeURIComponent(ref)}`
  return {
    createSchedule: (schedule: NewSchedule): Promise<ScheduleDetail> =>
      caller.json(
        { method: 'POST', path: '/api/v1/schedules', repeatable: false, body: JSON.stringify(schedule) },
        ScheduleDetail,
      ),
    schedules: (filter: { readonly owner?: string; readonly limit?: number; readonly cursor?: string } = {}) =>
      caller.json(
        { method: 'GET', path: `/api/v1/schedules${queryText(filter)}`, repeatable: true },
        SchedulePage,
      ) as Promise<SchedulePage>,
    schedule: (ref: string): Promise<ScheduleDetail> =>
      caller.json({ method: 'GET', path: path(ref), repeatable: true }, ScheduleDetail),
    changeSchedule: (ref: string, changes: ScheduleChanges): Promise<ScheduleDetail> =>
      caller.json(
        { method: 'PATCH', path: path(ref), repeatable: true, body: JSON.stringify(changes) },
        ScheduleDetail,
      ),
    async removeSchedule(ref: string): Promise<void> {
      await caller.text({ method: 'DELETE', path: path(ref), repeatable: false })
    },
    runSchedule: (ref: string): Promise<Schedule> =>
      caller.json({ method: 'POST', path: `${path(ref)}/run`, repeatable: false }, Schedule),
  }
}
