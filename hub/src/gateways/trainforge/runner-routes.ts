import { Sha256 } from '@stoker/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AnswerError } from './answer-error.ts'
import { EndBody, read, SeenBody } from './bodies.ts'
import type { Desk } from './desk.ts'
import type { RunnerCall } from './runner-desk.ts'

const OutputQuery = z.object({
  stream: z.enum(['stdout', 'stderr']),
  offset: z.coerce.number().pipe(z.int().min(0)),
})
const MAX_CHUNK_BYTES = 1024 * 1024
const MAX_LISTING_BYTES = 64 * 1024 * 1024
const BYTES = 'application/octet-stream'

/** Where runner scripts call: each with the token of its attempt, and for nothing else. */
export function addRunnerRoutes(service: FastifyInstance, { runners }: Desk): void {
  const enter = (request: FastifyRequest): RunnerCall => {
    const { attempt } = request.params as { readonly attempt: string }
    const token = /^Bearer (\S{1,200})$/.exec(request.headers.authorization ?? '')?.[1] ?? null
    return runners.enter(attempt, token)
  }

  service.post('/api/attempts/:attempt/start', async request => runners.start(enter(request)))
  service.post('/api/attempts/:attempt/check-in', async request => runners.checkIn(enter(request)))

  service.post('/api/attempts/:attempt/output', { bodyLimit: MAX_CHUNK_BYTES }, async request => {
    const call = enter(request)
    const { stream, offset } = read(OutputQuery, request.query)
    const bytes = await whole(request)
    return runners.output(call, stream, offset, bytes)
  })

  service.post('/api/attempts/:attempt/outputs', { bodyLimit: MAX_LISTING_BYTES }, async request =>
    runners.choose(enter(request), read(SeenBody, request.body).paths),
  )

  service.put('/api/attempts/:attempt/blobs/:sha256', async request => {
    const call = enter(request)
    const { sha256 } = read(z.object({ sha256: Sha256, attempt: z.string() }), request.params)
    const size = Number(request.headers['content-length'] ?? Number.NaN)
    if (!Number.isSafeInteger(size)) throw new AnswerError(411, 'an upload says its size with content-length')
    await runners.store(call, sha256, size, bodyOf(request))
    return { sha256, size }
  })

  service.post('/api/attempts/:attempt/end', { bodyLimit: MAX_LISTING_BYTES }, async request => {
    const call = enter(request)
    const { exit_code, signal, ended_by, start_error, note, output_error, artifacts } = read(EndBody, request.body)
    await runners.end(call, {
      exitCode: exit_code,
      signal,
      endedBy: ended_by,
      startError: start_error ?? null,
      note: note ?? null,
      outputError: output_error ?? null,
      artifacts,
    })
    return { success: true }
  })
}

/** Bodies of this type are not read for the routes: they may be large. */
export function passBytes(service: FastifyInstance): void {
  service.addContentTypeParser(BYTES, (_request, payload, done) => done(null, payload))
}

function bodyOf({ body }: FastifyRequest): AsyncIterable<Uint8Array> {
  if (isIterable(body)) return body
  throw new AnswerError(415, `the body comes as ${BYTES}`)
}

async function whole(request: FastifyRequest): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of bodyOf(request)) {
    length += part.length
    if (length > MAX_CHUNK_BYTES) throw new AnswerError(413, `a piece of output has at most ${MAX_CHUNK_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
