import { PROBLEMS, Refused } from '@stoker/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { UploadCut } from '../../../outputs/artifacts/port.ts'
import { DiskFullOutputs } from '../../../outputs/port.ts'
import { RateLimited } from '../../../serving/rate-limit.ts'

/** An answer that is not what was asked for, as clients of this dialect know it: a status, what it is and why. */
export class ConsumerError extends Error {
  readonly status: number
  readonly error: string
  readonly more: Readonly<Record<string, unknown>>

  constructor(status: number, error: string, message: string, more: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.name = 'ConsumerError'
    this.status = status
    this.error = error
    this.more = more
  }
}

export function badRequest(message: string, more: Readonly<Record<string, unknown>> = {}): ConsumerError {
  return new ConsumerError(400, 'Bad request', message, more)
}

export function sendError(reply: FastifyReply, { status, error, message, more }: ConsumerError): FastifyReply {
  if (typeof more.retry_after === 'number') reply.header('retry-after', String(more.retry_after))
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send({ error, message, ...more })
}

/** What the client is told of anything thrown on the way; 500 is a bug. */
export function errorOf(error: unknown): ConsumerError {
  if (error instanceof ConsumerError) return error
  if (error instanceof UploadCut) return badRequest(error.message)
  if (error instanceof DiskFullOutputs) return new ConsumerError(507, 'Disk full', error.message)
  if (error instanceof Refused) {
    const { status, title } = PROBLEMS[error.code]
    const wait = error instanceof RateLimited ? { retry_after: error.retryAfterSeconds } : {}
    return new ConsumerError(status, title, error.message, { code: error.code, ...wait })
  }
  const { statusCode, message } = error as { readonly statusCode?: unknown; readonly message?: unknown }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new ConsumerError(statusCode, statusCode === 413 ? 'Payload too large' : 'Bad request', String(message))
  return new ConsumerError(500, 'Internal server error', 'the hub met a bug while answering')
}

/** The documented answer to a path nobody serves. */
export function answerUnknownEndpoint(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = (request.originalUrl.split('?', 1)[0] ?? '').slice(0, 500)
  return reply
    .code(404)
    .header('content-type', 'application/json; charset=utf-8')
    .send({ error: 'Endpoint not found', path, method: request.method, requestId: request.id })
}
