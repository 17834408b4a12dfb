import { Refused } from '@stoker/protocol'
import { RateLimited } from '../../serving/rate-limit.ts'

/** An answer that is not what was asked for, as clients of this dialect know it: a status and `{"detail": …}`. */
export class AnswerError extends Error {
  readonly status: number
  readonly detail: unknown
  readonly retryAfterSeconds: number | null

  constructor(
    status: number,
    detail: unknown,
    { retryAfterSeconds = null }: { readonly retryAfterSeconds?: number | null } = {},
  ) {
    super(typeof detail === 'string' ? detail : JSON.stringify(detail))
    this.name = 'AnswerError'
    this.status = status
    this.detail = detail
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** One thing wrong with a request: what kind, where, and in words. */
export interface BodyIssue {
  readonly type: string
  readonly loc: readonly (string | number)[]
  readonly msg: string
}

export function invalidRequest(issues: readonly BodyIssue[]): AnswerError {
  return new AnswerError(422, issues)
}

export function notFound(kind: 'Task' | 'Session', id: string): AnswerError {
  return new AnswerError(404, `${kind} ${id} not found`)
}

/** Codes of the hub that mean something else here than in its own API. */
const STATUSES: Readonly<Partial<Record<Refused['code'], number>>> = {
  'spec.invalid': 400,
  'job.unschedulable': 400,
  'owner.limit': 503,
  'disk.full': 503,
  'hub.stopping': 503,
  'rate.limited': 429,
  'request.too_large': 413,
}
const TRY_AGAIN_SECONDS = 5

export function answerOf(error: unknown): AnswerError {
  if (error instanceof AnswerError) return error
  if (error instanceof Refused) {
    const status = STATUSES[error.code] ?? 400
    const seconds = error instanceof RateLimited ? error.retryAfterSeconds : TRY_AGAIN_SECONDS
    return new AnswerError(status, error.message, {
      retryAfterSeconds: status === 503 || status === 429 ? seconds : null,
    })
  }
  const { statusCode, message } = error as { readonly statusCode?: unknown; readonly message?: unknown }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new AnswerError(statusCode, String(message))
  return new AnswerError(500, 'Internal server error')
}
