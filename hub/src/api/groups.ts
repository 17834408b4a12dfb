import {
  type Group,
  GroupCanceled,
  GroupDetail,
  GroupPage,
  type GroupRow,
  JobState,
  Problem,
  Submitted,
} from '@stoker/protocol'
import { z } from 'zod'
import { callerOf, guard, ownerScope } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { cursorAfter, parseCursor } from './cursor.ts'
import { membersIn, retriedMembers } from './group-members.ts'
import { findGroup } from './group-ref.ts'
import { isoTime, isoTimeOrNull } from './iso-time.ts'
import { submit } from './submit.ts'
import { refuseValue } from './validation.ts'
import { viewJobs } from './views.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const tags = ['groups']
const GroupRef = z.object({ id: z.string() })
const SHOWN_FAILURES = 10

const ListQuery = z.strictObject({
  owner: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z
    .string()
    .transform((given, context) => parseCursor(given) ?? refuseValue(context, 'allowed: the "next" of an earlier page'))
    .optional(),
})

export function addGroupRoutes(api: Api, context: RouteContext): void {
  const { queries, engine, tokens } = context
  const see = guard(tokens, ['admin', 'submit', 'read'])
  const act = guard(tokens, ['admin', 'submit'])

  api.get('/api/v1/groups', {
    schema: {
      summary: 'List groups, newest first',
      tags,
      querystring: ListQuery,
      response: { 200: GroupPage, ...errors },
    },
    onRequest: see,
    handler: async request => {
      const { owner, limit, cursor } = request.query
      const page = await queries.groups(ownerScope(callerOf(request), owner), cursor ?? null, limit)
      return { groups: page.rows.map(viewGroup), next: page.next === null ? null : cursorAfter(page.next) }
    },
  })

  api.get('/api/v1/groups/:id', {
    schema: {
      summary: 'Show a group: members by state, and the first that failed',
      tags,
      params: GroupRef,
      response: { 200: GroupDetail, ...errors },
    },
    onRequest: see,
    handler: async request => {
      const group = await findGroup(queries, callerOf(request), request.params.id)
      const hasFailures = group.failed + group.timed_out > 0
      const failed = hasFailures ? await membersIn(queries, group, ['failed', 'timed_out']) : []
      return { ...viewGroup(group), failures: await viewJobs(context, failed.slice(0, SHOWN_FAILURES)) }
    },
  })

  api.post('/api/v1/groups/:id/cancel', {
    schema: {
      summary: 'Cancel all members that have not ended',
      tags,
      params: GroupRef,
      response: { 202: GroupCanceled, ...errors },
    },
    onRequest: act,
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const { id } = await findGroup(queries, caller, request.params.id)
      const done = await engine.execute({ kind: 'cancelGroup', group: id, by: caller.owner })
      return reply.code(202).send({ ...done, group: viewGroup(await findGroup(queries, caller, id)) })
    },
  })

  api.post('/api/v1/groups/:id/retry', {
    schema: {
      summary:
        'Submit the members that failed, timed out or were canceled again, as a new group that names the old one',
      tags,
      params: GroupRef,
      response: { 201: Submitted, ...errors },
    },
    onRequest: act,
    handler: async (request, reply) => {
      const group = await findGroup(queries, callerOf(request), request.params.id)
      const again = await retriedMembers(context, group)
      return submit(context, reply, { owner: group.owner, ...again, key: null, failFast: false })
    },
  })
}

function viewGroup(row: GroupRow): Group {
  const { id, name, owner, size, maxParallel, retryOf } = row
  return {
    ...{ id, name, owner, size, maxParallel, retryOf },
    submittedAt: isoTime(row.submittedAt),
    endedAt: isoTimeOrNull(row.endedAt),
    counts: Object.fromEntries(JobState.options.map(state => [state, row[state]])) as Group['counts'],
  }
}
