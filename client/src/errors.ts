import type { Problem } from '@stoker/protocol'

/** The hub answered no: the problem says why, its `code` is stable. */
export class HubRefused extends Error {
  readonly problem: Problem
  /** When to come again, if the hub said so. */
  readonly retryAfterSeconds: number | null

  constructor(problem: Problem, retryAfterSeconds: number | null = null) {
    super(problem.detail === '' ? problem.title : problem.detail)
    this.name = 'HubRefused'
    this.problem = problem
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Nobody answered; `neverSent` tells that the request cannot have had an effect. */
export class HubUnreachable extends Error {
  readonly url: string
  readonly neverSent: boolean

  constructor(url: string, cause: unknown) {
    super(`the hub should answer at ${url}, ${reasonOf(cause)}`, { cause })
    this.name = 'HubUnreachable'
    this.url = url
    this.neverSent = NEVER_SENT.has(codeOf(cause) ?? '')
  }
}

/** Temporary: the hub is away, or says that it is just starting or stopping; a full session is a matter of its own. */
export function isHubAway(error: unknown): boolean {
  return (
    error instanceof HubUnreachable ||
    (error instanceof HubRefused && error.problem.status === 503 && error.problem.code !== 'session.full')
  )
}

const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the name is not known',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  UND_ERR_BODY_TIMEOUT: 'its answer stopped in the middle',
}

function reasonOf(cause: unknown): string {
  const code = codeOf(cause)
  const known = code === undefined ? undefined : REASONS[code]
  if (known !== undefined) return known
  const text = cause instanceof Error ? cause.message : String(cause)
  return text === '' ? (code ?? 'it did not') : text
}

function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
  return undefined
}
