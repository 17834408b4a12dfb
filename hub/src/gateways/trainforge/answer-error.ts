import { PROBLEMS, Refused } from '@stoker/protocol'
import { DiskFullOutputs, StreamGap } from '../../outputs/port.ts'
import { RateLimited } from '../../serving/rate-limit.ts'

/** An answer that is not what was asked for, as clients of this dialect know it: a status and `{"error": …}`. */
export class AnswerError extends Error {
  readonly status: number
  readonly more: Readonly<Record<string, unknown>>

  constructor(status: number, message: string, more: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.name = 'AnswerError'
    this.status = status
    this.more = more
  }
}

const TRY_AGAIN_SECONDS = 5

/** What the client is told of anything thrown on the way; a status of 500 is a bug. */
export function answerOf(error: unknown): AnswerError {
  if (error instanceof AnswerError) return error
  if (error instanceof RateLimited) return new AnswerError(429, error.message, { retry_after: error.retryAfterSeconds })
  if (error instanceof Refused) return new AnswerError(PROBLEMS[error.code].status, error.message, { code: error.code })
  if (error instanceof StreamGap) return new AnswerError(409, error.message, { known: error.known })
  if (error instanceof DiskFullOutputs) return new AnswerError(507, error.message, { retry_after: TRY_AGAIN_SECONDS })
  const { statusCode, message } = error as { readonly statusCode?: unknown; readonly message?: unknown }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new AnswerError(statusCode, String(message))
  return new AnswerError(500, 'the hub met a bug while answering')
}
