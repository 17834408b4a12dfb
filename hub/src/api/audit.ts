import { type AuditEntry, AuditPage, type AuditRow, Problem } from '@stoker/protocol'
import { z } from 'zod'
import { guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { isoTime } from './iso-time.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const Query = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z.uuid().optional(),
})

export function addAuditRoute(api: Api, { queries, tokens }: RouteContext): void {
  api.get('/api/v1/audit', {
    schema: {
      summary: 'List what was done with power, newest first',
      tags: ['hub'],
      querystring: Query,
      response: { 200: AuditPage, ...errors },
    },
    onRequest: guard(tokens, ['admin']),
    handler: async request => {
      const { limit, cursor } = request.query
      const rows = await queries.auditBefore(cursor ?? null, limit + 1)
      const page = rows.slice(0, limit)
      return { entries: page.map(viewEntry), next: rows.length > limit ? (page.at(-1)?.id ?? null) : null }
    },
  })
}

function viewEntry({
  id,
  at,
  token,
  label,
  owner,
  role,
  address,
  action,
  target,
  details,
  status,
}: AuditRow): AuditEntry {
  const by = { tokenId: token, label, owner, role }
  return { id, at: isoTime(at), by, from: address, action, target, details: JSON.parse(details), status }
}
