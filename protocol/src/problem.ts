import { z } from 'zod'

/** Every refusal the hub can give: a stable code, its HTTP status and title. */
export const PROBLEMS = {
  'spec.invalid': { status: 400, title: 'The job spec is not valid' },
  'request.invalid': { status: 400, title: 'The request is not valid' },
  'request.too_large': { status: 413, title: 'The request is too large' },
  'request.unsupported': { status: 415, title: 'The request has a form the hub does not read' },
  'auth.missing': { status: 401, title: 'A token is needed' },
  'auth.invalid': { status: 401, title: 'The token is not valid' },
  'auth.forbidden': { status: 403, title: 'The token does not allow this' },
  'job.not_found': { status: 404, title: 'No such job' },
  'worker.not_found': { status: 404, title: 'No such worker' },
  'device.not_found': { status: 404, title: 'No such device' },
  'token.not_found': { status: 404, title: 'No such token' },
  'webhook.not_found': { status: 404, title: 'No such webhook' },
  'webhook.too_many': { status: 409, title: 'The owner has too many webhooks' },
  'secret.not_found': { status: 404, title: 'No such secret' },
  'listener.not_found': { status: 404, title: 'No such listener' },
  'listener.fixed': { status: 409, title: 'The listener belongs to the start of the hub' },
  'listener.unusable': { status: 409, title: 'The hub cannot listen there' },
  'preset.not_found': { status: 404, title: 'No such preset' },
  'route.not_found': { status: 404, title: 'No such route' },
  'route.method': { status: 405, title: 'The route does not take this method' },
  'job.ended': { status: 409, title: 'The job has ended' },
  'job.active': { status: 409, title: 'The job is active' },
  'job.not_ended': { status: 409, title: 'The job has not ended' },
  'idempotency.conflict': { status: 409, title: 'The idempotency key was used with another body' },
  'worker.busy': { status: 409, title: 'The worker still has work' },
  'worker.duplicate': { status: 409, title: 'Another worker has this id' },
  'job.taken': { status: 409, title: 'The job is not to be had' },
  'worker.name_taken': { status: 409, title: 'Another worker has this name' },
  'group.not_found': { status: 404, title: 'No such group' },
  'group.ended': { status: 409, title: 'All jobs of the group have ended' },
  'group.nothing_failed': { status: 409, title: 'No job of the group can be retried' },
  'session.not_found': { status: 404, title: 'No such session' },
  'session.full': { status: 503, title: 'The session has no room in its queue' },
  'schedule.not_found': { status: 404, title: 'No such schedule' },
  'schedule.name_taken': { status: 409, title: 'Another schedule has this name' },
  'schedule.overlap': { status: 409, title: 'The last run of the schedule has not ended' },
  'owner.storage': { status: 413, title: 'The owner may store no more' },
  'owner.limit': { status: 429, title: 'The limit of the owner is reached' },
  'job.unschedulable': { status: 422, title: 'No worker can run the job' },
  'dependency.unmeetable': { status: 422, title: 'A job it depends on cannot end as asked' },
  'feed.gone': { status: 410, title: 'The cursor is older than what is kept' },
  'stale.attempt': { status: 409, title: 'The attempt is over' },
  'blob.not_found': { status: 404, title: 'No such content' },
  'artifact.not_found': { status: 404, title: 'No such artifact' },
  'upload.offset': { status: 409, title: 'The upload goes on at another place' },
  'upload.hash': { status: 422, title: 'The content is not what its name says' },
  'rate.limited': { status: 429, title: 'Too many requests' },
  'range.unsatisfiable': { status: 416, title: 'The range lies outside the content' },
  'disk.full': { status: 507, title: 'The hub has too little disk space for new work' },
  'hub.starting': { status: 503, title: 'The hub is starting' },
  'hub.unbuilt': { status: 503, title: 'The hub was not built' },
  'hub.stopping': { status: 503, title: 'The hub is stopping' },
  'hub.broken': { status: 500, title: 'The hub has a bug' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof PROBLEMS

/** RFC 9457, with a stable `code` and the places that are wrong. */
export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number(),
  detail: z.string(),
  code: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})
export type Problem = z.infer<typeof Problem>

/** The caller's fault: carries the code that becomes a status, a title and an exit code. */
export class Refused extends Error {
  readonly code: ProblemCode
  readonly errors: readonly { readonly path: string; readonly message: string }[]

  constructor(
    code: ProblemCode,
    detail: string,
    errors: readonly { readonly path: string; readonly message: string }[] = [],
  ) {
    super(detail)
    this.name = 'Refused'
    this.code = code
    this.errors = errors
  }
}

export function toProblem(refused: Refused): Problem {
  const { status, title } = PROBLEMS[refused.code]
  const errors = refused.errors.length > 0 ? { errors: [...refused.errors] } : {}
  return {
    type: `urn:stoker:problem:${refused.code}`,
    title,
    status,
    detail: refused.message,
    code: refused.code,
    ...errors,
  }
}
