import type { FastifyRequest } from 'fastify'
import { callerOf } from './auth.ts'
import type { Api, RouteContext } from './context.ts'

/** Texts that may be kept of a request: none of them can be a secret. */
const KEPT_TEXTS: readonly string[] = ['name', 'owner', 'role', 'label', 'worker', 'reason']
const MOST_TEXT = 200

/**
 * Every deed of an audited route is written down before it is done, and how it went before it is answered:
 * whatever is killed in between, there is no deed without an entry. Routes need to do nothing for it but have a guard.
 */
export function keepAuditTrail(api: Api, { engine, newId }: Pick<RouteContext, 'engine' | 'newId'>): void {
  api.decorateRequest('auditId', null)
  api.addHook('preHandler', (request, _reply, done) => {
    if (request.isAudited) begin(request).then(() => done(), done)
    else done()
  })
  api.addHook('onSend', (request, reply, payload, done) => {
    if (request.auditId === null) done(null, payload)
    else end(request, reply.statusCode).then(() => done(null, payload), done)
  })

  async function begin(request: FastifyRequest): Promise<void> {
    const id = newId()
    await engine.execute({ kind: 'audit', id, ...deedOf(request) })
    request.auditId = id
  }

  async function end(request: FastifyRequest, status: number): Promise<void> {
    const id = request.auditId ?? ''
    request.auditId = null
    await engine.execute({ kind: 'auditEnded', id, status })
  }
}

function deedOf(request: FastifyRequest) {
  const { tokenId, label, owner, role } = callerOf(request)
  const { method, routeOptions, params, ip } = request
  return {
    token: tokenId,
    label,
    owner,
    role,
    address: ip,
    action: `${method} ${routeOptions.url ?? ''}`,
    target: Object.values(params ?? {})
      .join(' ')
      .slice(0, MOST_TEXT),
    details: { ...keptOf(request.query), ...keptOf(request.body) },
  }
}

function keptOf(part: unknown): Record<string, string | number | boolean> {
  const kept: Record<string, string | number | boolean> = {}
  for (const [key, value] of Object.entries((part ?? {}) as object)) {
    if (typeof value === 'number' || typeof value === 'boolean') kept[key] = value
    else if (typeof value === 'string' && KEPT_TEXTS.includes(key)) kept[key] = value.slice(0, MOST_TEXT)
  }
  return kept
}

declare module 'fastify' {
  interface FastifyRequest {
    auditId: string | null
  }
}
