import {
  CreatedWebhook,
  type DeliveryRow,
  NewWebhook,
  Problem,
  Refused,
  TERMINAL_STATES,
  type Webhook,
  type WebhookDelivery,
  WebhookDetail,
  WebhookList,
  WebhookPing,
} from '@stoker/protocol'
import { z } from 'zod'
import type { WebhookState } from '../engine/owner-things.ts'
import { type Caller, callerOf, guard, ownerScope } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { isoTime, isoTimeOrNull } from './iso-time.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const Ref = z.object({ id: z.uuid() })
const SHOWN_DELIVERIES = 50

/** What the vault knows a webhook's signing secret by; no secret of a job can have this name. */
export const webhookKey = (id: string) => `webhook ${id}`

/** Where ends of jobs are told to; each belongs to an owner and is seen by that owner and admins only. */
export function addWebhookRoutes(api: Api, context: RouteContext): void {
  const { engine, queries, tokens, webhooks, vault, alone } = context
  const act = guard(tokens, ['admin', 'submit'])
  const see = guard(tokens, ['admin', 'submit', 'read'])
  const tags = ['webhooks']

  const find = (caller: Caller, id: string): Promise<WebhookState> =>
    engine.read(state => {
      const found = state.webhooks.get(id)
      if (found !== undefined && (caller.role === 'admin' || found.owner === caller.owner)) return found
      throw new Refused('webhook.not_found', `no webhook you may see has the id ${id}`)
    })

  api.post('/api/v1/webhooks', {
    schema: {
      summary: 'Tell a URL when jobs end',
      tags,
      body: NewWebhook,
      response: { 201: CreatedWebhook, ...errors },
    },
    onRequest: act,
    handler: async (request, reply) => {
      const { url, on = [...TERMINAL_STATES], labels = {} } = request.body
      const { owner } = callerOf(request)
      const refusal = webhooks.refusal(url)
      if (refusal !== null) throw new Refused('request.invalid', refusal)
      const id = context.newId()
      const secret = webhooks.newSecret()
      await alone(async () => {
        const sealed = await vault.seal(owner, webhookKey(id), Buffer.from(secret))
        await engine.execute({ kind: 'addWebhook', id, owner, url, on, labels, secret: sealed })
      })
      return reply.code(201).send({ ...view(await find(callerOf(request), id)), secret })
    },
  })

  api.get('/api/v1/webhooks', {
    schema: {
      summary: 'List webhooks',
      tags,
      querystring: z.strictObject({ owner: z.string().min(1).max(200).optional() }),
      response: { 200: WebhookList, ...errors },
    },
    onRequest: see,
    handler: async request => {
      const owner = ownerScope(callerOf(request), request.query.owner)
      const all = await engine.read(state => [...state.webhooks.values()])
      return { webhooks: all.filter(webhook => owner === null || webhook.owner === owner).map(view) }
    },
  })

  api.get('/api/v1/webhooks/:id', {
    schema: {
      summary: 'Show a webhook with what was told last',
      tags,
      params: Ref,
      response: { 200: WebhookDetail, ...errors },
    },
    onRequest: see,
    handler: async request => {
      const webhook = await find(callerOf(request), request.params.id)
      const rows = await queries.deliveries(webhook.id, null, SHOWN_DELIVERIES)
      const jobs = new Map((await queries.jobsBySeq(rows.map(({ job }) => job))).map(({ seq, id }) => [seq, id]))
      return { ...view(webhook), deliveries: rows.flatMap(row => viewDelivery(row, jobs.get(row.job))) }
    },
  })

  api.delete('/api/v1/webhooks/:id', {
    schema: {
      summary: 'Remove a webhook; what was not told yet is not told',
      tags,
      params: Ref,
      response: { 204: z.null(), ...errors },
    },
    onRequest: act,
    handler: async (request, reply) => {
      const { id } = await find(callerOf(request), request.params.id)
      await engine.execute({ kind: 'removeWebhook', id })
      return reply.code(204).send(null)
    },
  })

  api.post('/api/v1/webhooks/:id/ping', {
    schema: {
      summary: 'Post a test message and say how it went',
      tags,
      params: Ref,
      response: { 200: WebhookPing, ...errors },
    },
    onRequest: act,
    handler: async request => {
      const outcome = await webhooks.ping(await find(callerOf(request), request.params.id))
      const status = 'status' in outcome ? outcome.status : null
      const delivered = status !== null && status >= 200 && status < 300
      return { delivered, status, error: 'error' in outcome ? outcome.error : null }
    },
  })
}

function view({ secret: _, createdAt, on, ...webhook }: WebhookState): Webhook {
  return { ...webhook, on: [...on], createdAt: isoTime(createdAt) }
}

function viewDelivery(row: DeliveryRow, job: string | undefined): WebhookDelivery[] {
  if (job === undefined) return []
  const { state, tries, createdAt, dueAt, endedAt, status, error } = row
  const times = { createdAt: isoTime(createdAt), nextTryAt: isoTimeOrNull(dueAt), endedAt: isoTimeOrNull(endedAt) }
  return [{ job, state, tries, ...times, status, error }]
}
