import type { Schedule, ScheduleDetail, SchedulePage } from '@stoker/protocol'
import { ago, shortId } from './job-words.ts'
import type { Paper } from './paper.ts'
import { plainText } from './plain-text.ts'
import type { View } from './printer.ts'
import { type Column, table } from './table.ts'

export const schedulePageView: View<SchedulePage> = {
  ids: page => page.schedules.map(schedule => schedule.id),
  human: (page, paper) =>
    page.schedules.length === 0 ? 'no schedules' : table(scheduleColumns(paper), page.schedules, paper),
}

export const scheduleView: View<Schedule | ScheduleDetail> = {
  ids: schedule => [schedule.id],
  human(schedule, paper) {
    const { last } = schedule
    const facts: readonly (readonly [string, string])[] = [
      ['id', schedule.id],
      ['name', schedule.name],
      ['owner', schedule.owner],
      ['cron', `${schedule.cron} (${schedule.timezone})`],
      ['overlap', schedule.overlap],
      ['catch up', schedule.catchUp],
      ['next', schedule.enabled ? (schedule.nextAt ?? 'never') : 'paused'],
      ['runs', String(schedule.runs)],
      ['last', last === null ? '' : `${last.outcome} ${ago(last.at, paper.now)}`],
      ['why', plainText(last?.reason ?? '')],
      ['last job', schedule.lastJob ?? ''],
      ['last group', schedule.lastGroup ?? ''],
      ['spec', 'spec' in schedule ? plainText(JSON.stringify(schedule.spec)) : ''],
    ]
    const shown = facts.filter(([, text]) => text !== '')
    return shown.map(([name, text]) => `${paper.color.dim(name.padEnd(10))}  ${text}`).join('\n')
  },
}

function scheduleColumns(paper: Paper): Column<Schedule>[] {
  return [
    { title: 'NAME', cell: one => one.name, shrinkTo: 8 },
    { title: 'CRON', cell: one => one.cron, shrinkTo: 9 },
    { title: 'TIMEZONE', cell: one => one.timezone, shrinkTo: 8, importance: 1 },
    { title: 'NEXT', cell: one => (one.enabled ? (one.nextAt ?? 'never') : 'paused') },
    { title: 'RUNS', cell: one => String(one.runs), importance: 3 },
    { title: 'LAST', cell: one => (one.last === null ? '-' : `${one.last.outcome} ${ago(one.last.at, paper.now)}`) },
    { title: 'LAST JOB', cell: one => (one.lastJob === null ? '-' : shortId(one.lastJob)), importance: 4 },
  ]
}
