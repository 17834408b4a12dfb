import { PROBLEMS, Refused } from '@stoker/protocol'
import type { FastifyReply } from 'fastify'

/** An answer that is not what was asked for, as this dialect has it: a status and `{"success":false,"error":…}`. */
export class QubixError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'QubixError'
    this.status = status
  }
}

export function errorOf(error: unknown): QubixError {
  if (error instanceof QubixError) return error
  if (error instanceof Refused) return new QubixError(PROBLEMS[error.code].status, error.message)
  const { statusCode, message } = error as { readonly statusCode?: unknown; readonly message?: unknown }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new QubixError(statusCode, String(message))
  return new QubixError(500, 'the hub has a bug; nothing was stored')
}

export function sendError(reply: FastifyReply, { status, message }: QubixError): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify({ success: false, error: message }))
}
