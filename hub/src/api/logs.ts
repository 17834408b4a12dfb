import { type JobRow, Problem, parseDuration, Refused } from '@stoker/protocol'
import { z } from 'zod'
import type { StreamName, StreamOffsets } from '../outputs/port.ts'
import { BEGINNING, fenceOf, followJob } from '../serving/follow-job.ts'
import { callerOf, guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { findJob } from './job-ref.ts'
import { JobRef } from './jobs.ts'
import { type OutputPlace, parsePlace, placeText } from './program-lines.ts'
import { tailStart } from './tail-start.ts'
import { refuseValue } from './validation.ts'
import { WholeLines } from './whole-lines.ts'

const PAGE_BYTES = 256 * 1024
const IsoTime = z.iso.datetime({ offset: true })

/** A moment, or how long before now. */
type Since = { readonly at: number } | { readonly agoMs: number }

const LogsQuery = z.strictObject({
  stream: z.enum(['stdout', 'stderr']).optional(),
  tail: z.coerce.number().int().min(0).max(100_000).optional(),
  since: z
    .string()
    .transform((given, context): Since => {
      if (IsoTime.safeParse(given).success) return { at: Date.parse(given) }
      const agoMs = parseDuration(given)
      return agoMs === null
        ? refuseValue(context, 'allowed: a time like "2026-01-31T12:00:00Z" or a duration like "10m"')
        : { agoMs }
    })
    .optional(),
  follow: z.enum(['true', 'false']).optional(),
  attempt: z.coerce.number().int().min(1).max(999_999_999).optional(),
  from: z
    .string()
    .transform((given, context) => parsePlace(given) ?? refuseValue(context, 'allowed: the "Stoker-From" of an answer'))
    .optional(),
})
type LogsQuery = z.output<typeof LogsQuery>

export function addLogsRoute(api: Api, context: RouteContext): void {
  api.get('/api/v1/jobs/:id/logs', {
    schema: {
      summary: 'The raw output of a job, in the order it arrived',
      description:
        'Of one stream, every byte as it comes; of both together, lines in the order in which they were finished. The header `Stoker-From` tells the place the bytes begin at, as attempt, offset in stdout and offset in stderr. Asked for with `from`, the same bytes come again, so that a reader whose connection broke passes over what it had.',
      tags: ['jobs'],
      params: JobRef,
      querystring: LogsQuery,
      response: {
        200: { description: 'Raw output', content: { 'text/plain': { schema: z.string() } } },
        '4xx': Problem,
        '5xx': Problem,
      },
    },
    exposeHeadRoute: false,
    onRequest: guard(context.tokens, ['admin', 'submit', 'read']),
    handler: async (request, reply) => {
      const { query } = request
      const row = await findJob(context.queries, callerOf(request), request.params.id)
      const { attempt, offsets } = await beginning(context, row, query)
      reply.header('stoker-from', placeText({ attempt: Math.max(1, attempt), offsets }))
      const type = 'text/plain; charset=utf-8'
      if (query.follow !== 'true')
        return context.open.send(reply, type, () => storedBytes(context, row, attempt, offsets, query))
      return context.open.send(reply, type, signal => followedBytes(context, row, attempt, offsets, query, signal))
    },
  })
}

async function beginning(context: RouteContext, row: JobRow, query: LogsQuery): Promise<OutputPlace> {
  const { from, attempt: wanted } = query
  const [name, number] = from === undefined ? ['attempt', wanted] : ['from: attempt', from.attempt]
  if (number !== undefined && number > Math.max(from === undefined ? 0 : 1, row.attempts))
    throw new Refused('request.invalid', `${name}: found ${number}; the job has had ${row.attempts}`)
  if (from !== undefined) return row.attempts === 0 ? { attempt: 0, offsets: BEGINNING } : from
  const attempt = wanted ?? row.attempts
  return { attempt, offsets: attempt === 0 ? BEGINNING : await startOf(context, row, attempt, query) }
}

/** Both limits given, the later one counts. */
async function startOf(
  { queries, streams, now }: RouteContext,
  row: JobRow,
  attempt: number,
  { tail, since, stream }: LogsQuery,
): Promise<StreamOffsets> {
  const fence = await fenceOf(queries, row, attempt)
  const byTail = tail === undefined ? BEGINNING : await tailStart(streams, fence, tail, stream)
  if (since === undefined) return byTail
  const byTime = await streams.seekTime(fence, 'at' in since ? since.at : now() - since.agoMs)
  return { stdout: Math.max(byTail.stdout, byTime.stdout), stderr: Math.max(byTail.stderr, byTime.stderr) }
}

/** What was there when it was asked for: a program that writes faster than the reader reads does not make it endless. */
async function* storedBytes(
  { queries, streams }: RouteContext,
  row: JobRow,
  attempt: number,
  from: StreamOffsets,
  { stream }: LogsQuery,
): AsyncGenerator<Uint8Array, void> {
  if (attempt === 0) return
  const fence = await fenceOf(queries, row, attempt)
  const size = await streams.sizes(fence)
  const at = { ...from }
  const isLeft = (name: 'stdout' | 'stderr') => (stream ?? name) === name && at[name] < size[name]
  const text = textOf(stream)
  while (isLeft('stdout') || isLeft('stderr')) {
    const page = await streams.read(fence, at, { stream, maxBytes: PAGE_BYTES })
    for (const piece of page.pieces) at[piece.stream] = piece.offset + piece.bytes.length
    yield text.take(page.pieces)
    if (page.end) break
  }
  yield text.rest()
}

/**
 * An attempt asked for by number ends the stream with it, else the stream goes on with the next attempt.
 * A hub that stops breaks the connection instead of ending it: a cut log must not look like a whole one.
 */
async function* followedBytes(
  context: RouteContext,
  row: JobRow,
  attempt: number,
  offsets: StreamOffsets,
  query: LogsQuery,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const from = { attempt: Math.max(1, attempt), offsets, only: query.stream }
  const text = textOf(query.stream)
  for await (const news of followJob(context, row, from, signal)) {
    if (news.kind === 'output') yield text.take(news.pieces)
    if (news.kind === 'over') yield text.rest()
    if (news.kind === 'over' && query.attempt !== undefined) return
  }
  if (signal.aborted) throw new Error('the log was cut because the hub stops or nobody reads it')
}

/** Alone, a stream has no lines to protect from another. */
function textOf(only: StreamName | undefined): Pick<WholeLines, 'take' | 'rest'> {
  if (only === undefined) return new WholeLines()
  return { take: pieces => Buffer.concat(pieces.map(({ bytes }) => bytes)), rest: () => new Uint8Array() }
}
