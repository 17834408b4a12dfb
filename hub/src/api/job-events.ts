import { type JobRow, Problem, Refused } from '@stoker/protocol'
import { z } from 'zod'
import { BEGINNING, type FollowFrom, followJob } from '../serving/follow-job.ts'
import { EVENT_STREAM, eventText, pingText } from '../serving/sse.ts'
import { callerOf, guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { findJob } from './job-ref.ts'
import { JobRef } from './jobs.ts'
import { type OutputPlace, ProgramLines, parsePlace } from './program-lines.ts'
import { viewJob } from './views.ts'

const EventsQuery = z.strictObject({ output: z.enum(['true', 'false']).optional() })

const FIRST: OutputPlace = { attempt: 1, offsets: BEGINNING }

export function addJobEventsRoute(api: Api, context: RouteContext): void {
  api.get('/api/v1/jobs/:id/events', {
    schema: {
      summary: 'Follow a job: its changes and what its program says, to its end',
      description:
        'Server-sent events. `job` has the job as it is now, first and after each change; `logs`, `text`, `text_delta`, `progress`, `worker`, `connection`, `checkpoint`, `artifact` and `finish` are the lines of the program, and `logs` with `open` is a part of a line that goes on in the next `logs` of its stream; `end` has the ended job and is the last. Send `Last-Event-ID` to go on behind an event. With `output=false` only `job` and `end` come.',
      tags: ['jobs'],
      params: JobRef,
      querystring: EventsQuery,
      response: {
        200: { description: 'Events', content: { 'text/event-stream': { schema: z.string() } } },
        '4xx': Problem,
        '5xx': Problem,
      },
    },
    exposeHeadRoute: false,
    onRequest: guard(context.tokens, ['admin', 'submit', 'read']),
    handler: async (request, reply) => {
      const row = await findJob(context.queries, callerOf(request), request.params.id)
      const place = placeOf(request.headers['last-event-id'], row)
      const from = { ...place, hasOutput: request.query.output !== 'false' }
      return context.open.send(reply, EVENT_STREAM, signal => jobEvents(context, row, from, signal))
    },
  })
}

async function* jobEvents(
  context: RouteContext,
  row: JobRow,
  from: FollowFrom,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  let lines = new ProgramLines(from)
  let shownProgress = 'null'
  for await (const news of followJob(context, row, from, signal)) {
    if (news.kind === 'output') {
      const text = lines.push(news.pieces)
      if (text !== '') yield text
    } else if (news.kind === 'over') {
      yield lines.end()
      lines = new ProgramLines({ attempt: news.attempt + 1, offsets: BEGINNING })
    } else if (news.kind === 'quiet') yield pingText()
    else {
      const job = await viewJob(context, news.row)
      const progress = JSON.stringify(job.progress)
      if (news.kind === 'progress' && progress === shownProgress) continue
      shownProgress = progress
      yield eventText(news.kind === 'end' ? 'end' : 'job', JSON.stringify(job))
    }
  }
}

function placeOf(lastId: string | string[] | undefined, row: JobRow): OutputPlace {
  if (lastId === undefined || lastId === '') return FIRST
  const place = parsePlace(String(lastId))
  if (place === null) {
    throw new Refused(
      'request.invalid',
      `Last-Event-ID: found ${JSON.stringify(String(lastId).slice(0, 80))}; allowed: the id of an event of this job`,
    )
  }
  if (place.attempt > row.attempts) {
    throw new Refused(
      'request.invalid',
      `Last-Event-ID: found attempt ${place.attempt}; the job has had ${row.attempts}`,
    )
  }
  return place
}
