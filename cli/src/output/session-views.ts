import type { SessionEnded, SessionPage, SessionView } from '@stoker/protocol'
import { formatDuration } from '@stoker/protocol'
import { ago, shortId } from './job-words.ts'
import type { Paper } from './paper.ts'
import { plainText } from './plain-text.ts'
import type { View } from './printer.ts'
import { type Column, table } from './table.ts'

export const sessionPageView: View<SessionPage> = {
  ids: page => page.sessions.map(({ id }) => id),
  human: (page, paper) => {
    const list = page.sessions.length === 0 ? 'no sessions' : table(columns(paper), page.sessions, paper)
    return page.next === null ? list : `${list}\n${paper.color.dim(`more: --cursor ${page.next}`)}`
  },
}

export const sessionView: View<SessionView> = { ids: ({ id }) => [id], human: describe }

export const sessionEndedView: View<SessionEnded> = {
  ids: ({ session }) => [session.id],
  human: ({ effect, session }) => (effect === 'ended' ? `${session.id} has ended` : `${session.id} was asked to leave`),
}

function describe(session: SessionView, paper: Paper): string {
  const facts: readonly (readonly [string, string])[] = [
    ['id', session.id],
    ['name', plainText(session.name)],
    ['state', stateOf(session)],
    ['owner', session.owner],
    ['preset', plainText(session.preset ?? '')],
    ['worker', plainText(session.worker?.name ?? '')],
    ['gpus', session.gpus.join(' ')],
    ['tasks', `${session.working.length} of ${session.concurrency} places, ${session.queued} queued`],
    ['room', `${session.queue} may wait`],
    ['created', `${session.createdAt} (${ago(session.createdAt, paper.now)})`],
    ['ready', session.readyAt === null ? '' : ago(session.readyAt, paper.now)],
    ['active', session.lastActivityAt === null ? '' : ago(session.lastActivityAt, paper.now)],
    ['ends', endsText(session)],
    ['starts', `${session.attempts} (at most ${session.restarts} again after crashes)`],
  ]
  const shown = facts.filter(([, text]) => text !== '')
  const tasks = session.working.map(id => `${paper.color.dim('task'.padEnd(8))}  ${id}`)
  return [...shown.map(([name, text]) => `${paper.color.dim(name.padEnd(8))}  ${text}`), ...tasks].join('\n')
}

function endsText({ state, idleTimeoutSeconds, maxLifetimeSeconds }: SessionView): string {
  if (state === 'ended') return ''
  const [idle, life] = [formatDuration(idleTimeoutSeconds * 1000), formatDuration(maxLifetimeSeconds * 1000)]
  return `after ${idle} without a task, after ${life} in any case`
}

function stateOf({ state, reason }: SessionView): string {
  if (reason === null) return state
  return state === 'ended' ? `ended (${reason})` : `${state}, leaving (${reason})`
}

function columns(paper: Paper): Column<SessionView>[] {
  return [
    { title: 'ID', cell: one => shortId(one.id) },
    { title: 'STATE', cell: stateOf },
    { title: 'NAME', cell: one => one.name, shrinkTo: 8 },
    { title: 'PRESET', cell: one => one.preset ?? '-', shrinkTo: 8, importance: 2 },
    { title: 'WORKER', cell: one => one.worker?.name ?? '-', shrinkTo: 6, importance: 3 },
    { title: 'TASKS', cell: one => `${one.working.length}/${one.concurrency}` },
    { title: 'QUEUED', cell: one => String(one.queued), importance: 4 },
    {
      title: 'ACTIVE',
      cell: one => (one.lastActivityAt === null ? '-' : ago(one.lastActivityAt, paper.now)),
      importance: 1,
    },
  ]
}
