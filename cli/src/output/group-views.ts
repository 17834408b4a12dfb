import type { Group, GroupDetail, GroupPage, JobState, Submitted } from '@stoker/protocol'
import { jobsView } from './job-views.ts'
import { ago, shortId } from './job-words.ts'
import type { Paper } from './paper.ts'
import { plainText } from './plain-text.ts'
import type { View } from './printer.ts'
import { type Column, table } from './table.ts'

export const groupPageView: View<GroupPage> = {
  ids: page => page.groups.map(group => group.id),
  human(page, paper) {
    const more = page.next === null ? '' : `\n${paper.color.dim(`more: --cursor ${page.next}`)}`
    return (page.groups.length === 0 ? 'no groups' : table(groupColumns(paper), page.groups, paper)) + more
  },
}

export const groupView: View<GroupDetail> = {
  ids: group => [group.id],
  human(group, paper) {
    const facts: readonly (readonly [string, string])[] = [
      ['id', group.id],
      ['name', plainText(group.name)],
      ['owner', group.owner],
      ['jobs', `${group.size}: ${countsText(group.counts, paper)}`],
      ['at once', group.maxParallel === null ? '' : `at most ${group.maxParallel}`],
      ['submitted', `${group.submittedAt} (${ago(group.submittedAt, paper.now)})`],
      ['ended', group.endedAt ?? ''],
      ['retry of', group.retryOf ?? ''],
    ]
    const lines = facts
      .filter(([, text]) => text !== '')
      .map(([name, text]) => `${paper.color.dim(name.padEnd(9))}  ${text}`)
    const failures = group.failures.length === 0 ? [] : ['', jobsView.human({ jobs: group.failures }, paper)]
    return [...lines, ...failures].join('\n')
  },
}

/** One line per spec: a group stands for its members. */
export const submittedView: View<Submitted> = {
  ids: submitted =>
    lines(
      submitted,
      id => id,
      id => id,
    ),
  human: submitted =>
    lines(
      submitted,
      (id, reason) => (reason === null ? id : `${id}  waits: ${plainText(reason)}`),
      (id, name, size) => `${id}  group of ${size}: ${plainText(name)}`,
    ).join('\n'),
}

function lines(
  { jobs, groups }: Submitted,
  single: (id: string, reason: string | null) => string,
  whole: (id: string, name: string, size: number) => string,
): string[] {
  const found: string[] = []
  for (let at = 0; at < jobs.length; ) {
    const group = groups.find(({ first }) => first === at)
    const job = jobs[at]
    if (group !== undefined) found.push(whole(group.id, group.name, group.size))
    else if (job !== undefined) found.push(single(job.id, job.unschedulable))
    at += group?.size ?? 1
  }
  return found
}

function groupColumns(paper: Paper): Column<Group>[] {
  return [
    { title: 'ID', cell: group => shortId(group.id) },
    { title: 'NAME', cell: group => group.name, shrinkTo: 8 },
    { title: 'OWNER', cell: group => group.owner, shrinkTo: 5, importance: 1 },
    { title: 'JOBS', cell: group => String(group.size) },
    { title: 'STATES', cell: group => countsText(group.counts), shrinkTo: 10 },
    { title: 'SUBMITTED', cell: group => ago(group.submittedAt, paper.now), importance: 2 },
  ]
}

export function countsText(counts: Readonly<Record<JobState, number>>, paper?: Paper): string {
  const parts = Object.entries(counts).filter(([, n]) => n > 0)
  const text = parts.map(([state, n]) =>
    state === 'failed' && paper ? paper.color.red(`${n} failed`) : `${n} ${state}`,
  )
  return text.join(', ') || 'none'
}
