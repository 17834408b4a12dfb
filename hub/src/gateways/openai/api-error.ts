import { Refused } from '@stoker/protocol'
import { RateLimited } from '../../serving/rate-limit.ts'

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'rate_limit_error'
  | 'server_error'
  | 'service_unavailable'

interface ErrorFacts {
  readonly type: ErrorType
  readonly code?: string | null
  readonly param?: string | null
  readonly retryAfterSeconds?: number | null
}

/** An answer that is not what was asked for, as clients of OpenAI know it. */
export class ApiError extends Error {
  readonly status: number
  readonly type: ErrorType
  readonly code: string | null
  readonly param: string | null
  readonly retryAfterSeconds: number | null

  constructor(
    status: number,
    message: string,
    { type, code = null, param = null, retryAfterSeconds = null }: ErrorFacts,
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.type = type
    this.code = code
    this.param = param
    this.retryAfterSeconds = retryAfterSeconds
  }

  get body() {
    const { message, type, param, code } = this
    return { error: { message, type, param, code } }
  }
}

export function invalidRequest(message: string, param: string | null, status = 400): ApiError {
  return new ApiError(status, message, { type: 'invalid_request_error', param })
}

/** Come again: what was asked for is right, and there is no room for it now. */
export function unavailable(message: string, code: string, retryAfterSeconds = TRY_AGAIN_SECONDS): ApiError {
  return new ApiError(503, message, { type: 'service_unavailable', code, retryAfterSeconds })
}

const TRY_AGAIN_SECONDS = 1

export function errorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof Refused) return refusalOf(error)
  const { statusCode, message } = error as { readonly statusCode?: unknown; readonly message?: unknown }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return invalidRequest(String(message), null, statusCode)
  return new ApiError(500, 'the hub met an error of its own while it answered', { type: 'server_error' })
}

function refusalOf(error: Refused): ApiError {
  if (error instanceof RateLimited) {
    const { retryAfterSeconds } = error
    return new ApiError(429, error.message, {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      retryAfterSeconds,
    })
  }
  switch (error.code) {
    case 'session.full':
    case 'owner.limit':
      return new ApiError(429, error.message, {
        type: 'rate_limit_error',
        code: error.code === 'session.full' ? 'queue_full' : 'quota_exceeded',
        retryAfterSeconds: TRY_AGAIN_SECONDS,
      })
    case 'disk.full':
    case 'hub.stopping':
      return unavailable(error.message, error.code.replace('.', '_'))
    case 'request.too_large':
      return invalidRequest(error.message, null, 413)
    default:
      return invalidRequest(error.message, null)
  }
}
