import { PROBLEMS, Refused } from '@stoker/protocol'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { RateLimited } from '../../../serving/rate-limit.ts'
import type { ConsumerContext } from './context.ts'

const TRY_AGAIN_SECONDS = 5

/** Something this hub does not do yet, such as paying. */
export class NotKept extends Error {}

/** Everything that is not what was asked for is `{"success": false, "error": …}` with a real status. */
export function answerErrors(scope: FastifyInstance, { failed, isStopping }: ConsumerContext): void {
  scope.addHook('onRequest', (_request, _reply, done) => {
    if (isStopping()) done(new Refused('hub.stopping', 'the hub is stopping; try again when it is back'))
    else done()
  })
  scope.setErrorHandler((error, _request, reply) => {
    if (statusOf(error) === 500) failed(error)
    return sendError(reply, error)
  })
}

/** Also for what no route gets to see, such as an address that is none. */
export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const status = statusOf(error)
  const seconds = retryAfter(error, status)
  if (seconds !== null) reply.header('retry-after', String(seconds))
  const told = status === 500 ? 'internal error' : messageOf(error)
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send({ success: false, error: told })
}

function statusOf(error: unknown): number {
  if (error instanceof NotKept) return 501
  if (error instanceof Refused) return PROBLEMS[error.code].status
  const { statusCode } = error as { readonly statusCode?: unknown }
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? statusCode : 500
}

function retryAfter(error: unknown, status: number): number | null {
  if (error instanceof RateLimited) return error.retryAfterSeconds
  return status === 503 || status === 429 || status === 507 ? TRY_AGAIN_SECONDS : null
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
