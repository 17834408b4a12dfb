import { sha256 } from '@stoker/files'
import { type IdempotencyRow, Problem, Refused, SubmitSpec, Submitted } from '@stoker/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { NewGroup, NewJob, Replies } from '../engine/commands.ts'
import { newJobs } from '../engine/new-jobs.ts'
import { withPresetQueues } from '../presets/expand-preset.ts'
import { parseJson } from '../serving/parse-json.ts'
import type { QuickAnswer } from '../serving/quick-lane.ts'
import { refuseWhenFull } from '../serving/refuse-when-full.ts'
import { type ApiRole, admit, type Caller, callerOf, guard } from './auth.ts'
import { borrowArtifacts, borrows } from './borrow-artifacts.ts'
import type { Api, RouteContext } from './context.ts'
import { holdInputs } from './hold-inputs.ts'
import { linkMembers } from './name-members.ts'
import { MAX_JOBS, readSpecs } from './read-specs.ts'
import { checkAllButBody } from './validation.ts'

/** Room for a full batch of ordinary specs; larger work comes in several batches. */
const MAX_BODY_BYTES = 32 * 1024 * 1024
const SubmitBody = z.union([SubmitSpec, z.strictObject({ jobs: z.array(SubmitSpec).min(1).max(MAX_JOBS) })])
const SUBMITTERS: readonly ApiRole[] = ['admin', 'submit']
export const SubmitQuery = z.strictObject({ failFast: z.enum(['true', 'false']).optional() })

/** The hot path: who asks is known from memory, specs are parsed once, the reply is written by hand. */
export function addSubmitRoute(api: Api, context: RouteContext): void {
  api.post('/api/v1/jobs', {
    schema: {
      summary: 'Submit a job, or a batch of jobs that are accepted together or not at all',
      tags: ['jobs'],
      querystring: SubmitQuery,
      body: SubmitBody,
      response: { 201: Submitted, '4xx': Problem, '5xx': Problem },
    },
    bodyLimit: MAX_BODY_BYTES,
    validatorCompiler: checkAllButBody,
    onRequest: guard(context.tokens, SUBMITTERS),
    handler: async (request, reply) => {
      const text = await submitBody(context, callerOf(request), request, request.query.failFast === 'true')
      sendSubmitted(reply, text)
    },
  })
}

/** Most submits come alone, on connections that carry nothing else: they take a short way to the same deed. */
export function submitQuickly(context: RouteContext, answered: (key: string, ms: number) => void): QuickAnswer {
  const { tokens, isStopping } = context
  return request => {
    if (isStopping()) return null
    const startedAt = performance.now()
    try {
      const caller = admit(tokens, tokens.identify(request.headers.authorization), SUBMITTERS, request)
      const done = submitBody(context, caller, { headers: request.headers, body: parseJson(request.body) }, false)
      return done.then(text => {
        answered('POST /api/v1/jobs 201', performance.now() - startedAt)
        return text
      })
    } catch {
      return null
    }
  }
}

/** Resolves with what is answered once the jobs of a body are durable. */
async function submitBody(
  context: RouteContext,
  caller: Caller,
  request: Pick<FastifyRequest, 'headers' | 'body'>,
  failFast: boolean,
): Promise<string> {
  const body = borrows(request.body) ? await borrowArtifacts(context, caller, request.body) : request.body
  const bytes = Number(request.headers['content-length'] ?? Number.NaN)
  const specs = await readSpecs(body, bytes, context)
  const { jobs, groups } = newJobs(specs, context.newId)
  const key = idempotencyKey(request, jobs, groups)
  const isAdmin = caller.role === 'admin'
  return submittedAs(context, { owner: caller.owner, jobs: linkMembers(jobs), groups, key, failFast, isAdmin })
}

export interface Submission {
  readonly owner: string
  readonly jobs: readonly NewJob[]
  readonly groups: readonly NewGroup[]
  readonly key: Pick<IdempotencyRow, 'key' | 'hash'> | null
  readonly failFast: boolean
  /** Tasks may be for sessions of any owner. */
  readonly isAdmin?: boolean | undefined
}

/** Answers once the jobs are durable; a repeated submit gets the ids of the first. */
export async function submit(context: RouteContext, reply: FastifyReply, submission: Submission): Promise<void> {
  sendSubmitted(reply, await submittedAs(context, submission))
}

async function submittedAs(context: RouteContext, submission: Submission): Promise<string> {
  const { jobs, groups } = submission
  const done = await acceptJobs(context, submission)
  return done.repeated ? firstAnswer(context, done) : submittedText(jobs, done.unschedulable, groups)
}

function sendSubmitted(reply: FastifyReply, text: string): void {
  reply.code(201).header('content-type', 'application/json; charset=utf-8').send(text)
}

/** Resolves once the jobs are durable. */
export async function acceptJobs(context: RouteContext, submission: Submission): Promise<Replies['submit']> {
  refuseWhenFull(context.diskGuard)
  const { owner, jobs, groups, key, failFast, isAdmin } = submission
  const release = jobs.some(({ spec }) => spec.files.length > 0) ? await holdInputs(context.blobs, owner, jobs) : null
  try {
    const asked = await withPresetQueues(jobs, context.presets)
    return await context.engine.execute({ kind: 'submit', owner, jobs: asked, groups, key, failFast, isAdmin })
  } finally {
    release?.()
  }
}

function submittedText(
  jobs: readonly { readonly id: string }[],
  reasons: readonly (string | null)[],
  groups: readonly Submitted['groups'][number][],
): string {
  let last: { readonly reason: string | null; readonly text: string } = { reason: null, text: 'null' }
  const parts = jobs.map(({ id }, i) => {
    const reason = reasons[i] ?? null
    if (reason !== last.reason) last = { reason, text: JSON.stringify(reason) }
    return `{"id":"${id}","unschedulable":${last.text}}`
  })
  const told = groups.map(({ id, name, first, size }) => ({ id, name, first, size }))
  return `{"jobs":[${parts.join(',')}],"groups":${JSON.stringify(told)}}`
}

async function firstAnswer(
  { queries, engine, unschedulable }: RouteContext,
  { firstSeq, count }: Replies['submit'],
): Promise<string> {
  const rows = await queries.jobsBySeq(Array.from({ length: count }, (_, i) => firstSeq + i))
  const reasons = await engine.read(state => {
    const verdicts = new Map<number, string | null>()
    for (const { state: at, bucket } of rows) {
      if (at === 'queued' && !verdicts.has(bucket)) verdicts.set(bucket, unschedulable(state, bucket))
    }
    return rows.map(row => (row.state === 'queued' ? (verdicts.get(row.bucket) ?? null) : null))
  })
  const groupIds = new Set(rows.flatMap(({ groupId }) => groupId ?? []))
  const groups = await Promise.all([...groupIds].map(id => queries.groupById(id)))
  return submittedText(
    rows,
    reasons,
    groups.flatMap(group => (group === null ? [] : [{ ...group, first: group.firstSeq - firstSeq }])),
  )
}

/** The hash is of the specs as understood and before ids are put for names, so spaces and defaults written out do not make it another body. */
export function idempotencyKey(
  request: Pick<FastifyRequest, 'headers'>,
  jobs: readonly NewJob[],
  groups: readonly NewGroup[],
): Submission['key'] {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || key.length < 1 || key.length > 200) {
    throw new Refused('request.invalid', `Idempotency-Key: found ${key.length} characters; allowed: 1 to 200`)
  }
  const grouped = groups.map(({ id: _, ...group }) => JSON.stringify(group))
  return { key, hash: sha256([...jobs.map(job => job.specText), ...grouped].join('\n')) }
}
