import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { formatSize, PROBLEMS, Refused, toProblem } from '@stoker/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RateLimited } from '../serving/rate-limit.ts'
import type { Api } from './context.ts'

const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** Every error leaves as a problem: the caller's fault with its facts, ours with nothing but the admission. */
export function answerWithProblems(api: Api): void {
  api.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  api.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    return sendProblem(new Refused('route.not_found', `nothing is at ${request.method} ${path}`), request, reply)
  })
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refused = refusalOf(error, request)
  if (refused.code === 'hub.broken') request.log.error({ err: error }, 'a request failed')
  const problem = toProblem(refused)
  if (refused instanceof RateLimited) reply.header('retry-after', String(refused.retryAfterSeconds))
  if (refused.code === 'session.full') reply.header('retry-after', '1')
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(problem.status).header('content-type', PROBLEM_TYPE).send(JSON.stringify(problem))
}

/** What does not even reach a route: no HTTP, headers too long, a body that never comes. */
export function answerBrokenRequest(error: Error & { readonly code?: string | undefined }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const refused =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? new Refused('request.too_large', 'the headers are longer than 16 kB')
      : new Refused('request.invalid', `what came is no HTTP request the hub reads (${error.code ?? error.message})`)
  const body = JSON.stringify(toProblem(refused))
  const { status } = PROBLEMS[refused.code]
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function refusalOf(error: unknown, request: FastifyRequest): Refused {
  if (error instanceof Refused) return error
  const { statusCode, message } = error as { readonly statusCode?: unknown; readonly message?: unknown }
  if (statusCode === 413) return new Refused('request.too_large', tooLarge(request))
  if (statusCode === 415) {
    const type = request.headers['content-type'] ?? 'no content type'
    return new Refused('request.unsupported', `the body came as "${type}"; the hub reads application/json`)
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new Refused('request.invalid', String(message))
  return new Refused('hub.broken', 'the hub failed to answer; its log says why')
}

function tooLarge(request: FastifyRequest): string {
  const limit = formatSize(request.routeOptions.bodyLimit)
  const said = Number(request.headers['content-length'])
  return Number.isFinite(said)
    ? `the body has ${formatSize(said)}, at most ${limit} are read`
    : `the body is larger than the ${limit} that are read`
}
