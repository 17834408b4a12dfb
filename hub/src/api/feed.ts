import { Problem, Refused } from '@stoker/protocol'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Bell } from '../serving/bell.ts'
import { SignsOfLife } from '../serving/signs-of-life.ts'
import { EVENT_STREAM, pingText } from '../serving/sse.ts'
import { type Caller, callerOf, guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { feedEvents } from './feed-view.ts'

/** A commit may carry ten thousand jobs: few are taken at a time. */
const ROWS_A_LOOK = 20

const FeedQuery = z.strictObject({ after: z.string().optional() })

export function addFeedRoute(api: Api, context: RouteContext): void {
  api.get('/api/v1/feed', {
    schema: {
      summary: 'Follow everything that happens',
      description:
        'Server-sent events `change`, one per commit, with its number as id. `after` or `Last-Event-ID` goes on behind a number, else the feed begins now.',
      tags: ['hub'],
      querystring: FeedQuery,
      response: {
        200: { description: 'Events', content: { 'text/event-stream': { schema: z.string() } } },
        '4xx': Problem,
        '5xx': Problem,
      },
    },
    exposeHeadRoute: false,
    onRequest: guard(context.tokens, ['admin', 'submit', 'read']),
    handler: async (request, reply) => {
      const after = await startOf(context, request.headers['last-event-id'] || request.query.after)
      const caller = callerOf(request)
      return context.open.send(reply, EVENT_STREAM, signal => feed(context, caller, after, signal))
    },
  })
}

/** Ends when the journal was pruned past a reader too slow for it: coming back, it is told so. */
export async function* feed(
  context: RouteContext,
  caller: Caller,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const { engine, queries, names } = context
  const bell = new Bell()
  const unsubscribe = engine.onCommit(bell.ring)
  const signs = new SignsOfLife()
  let n = after
  try {
    while (!signal.aborted) {
      if (signs.isDue()) yield pingText(String(n))
      const rows = await queries.journalAfter(n, ROWS_A_LOOK)
      const [first] = rows
      if (first === undefined) {
        await bell.wait(signs.nextInMs, signal)
        continue
      }
      if (first.n !== n + 1) return
      const text = await feedEvents(rows, caller, names)
      n = rows.at(-1)?.n ?? n
      if (text !== '') yield text
    }
  } finally {
    unsubscribe()
  }
}

async function startOf({ engine, queries }: RouteContext, cursor: FastifyRequest['headers'][string]): Promise<number> {
  const end = await engine.read(state => state.journal.n)
  if (cursor === undefined) return end
  const text = String(cursor)
  const after = /^\d{1,15}$/.test(text) ? Number(text) : null
  if (after === null || after > end) {
    throw new Refused(
      'request.invalid',
      `after: found ${JSON.stringify(text.slice(0, 80))}; allowed: 0 to ${end}, the last commit`,
    )
  }
  const forgotten = await queries.journalBoundary()
  if (after < forgotten.n) {
    throw new Refused(
      'feed.gone',
      `the feed was asked for behind ${after}, but commits up to ${forgotten.n} are forgotten`,
    )
  }
  return after
}
