import { sha256 } from '@stoker/files'
import { CreatedToken, NewToken, Problem, type Token, TokenList } from '@stoker/protocol'
import { z } from 'zod'
import type { TokenState } from '../engine/owner-things.ts'
import { callerOf, guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { isoTime, isoTimeOrNull } from './iso-time.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const tags = ['tokens']
const SECRET_BYTES = 32

export function addTokenRoutes(api: Api, context: RouteContext): void {
  const { engine } = context
  const onRequest = guard(context.tokens, ['admin'])

  api.post('/api/v1/tokens', {
    schema: {
      summary: 'Make a token; its secret is shown this once',
      tags,
      body: NewToken,
      response: { 201: CreatedToken, ...errors },
    },
    onRequest,
    handler: async (request, reply) => {
      const { role, owner = callerOf(request).owner, label = '', expiresInSeconds } = request.body
      const secret = `stk_${context.random(SECRET_BYTES).toString('base64url')}`
      const expiresAt = expiresInSeconds === undefined ? null : context.now() + expiresInSeconds * 1000
      const token = { id: context.newId(), hash: sha256(secret), role, owner, label, expiresAt }
      await engine.execute({ kind: 'addToken', ...token })
      const stored = await engine.read(state => state.tokens.get(token.id))
      return reply
        .code(201)
        .send({ ...viewToken(stored ?? { ...token, createdAt: context.now(), usedBy: null }), secret })
    },
  })

  api.get('/api/v1/tokens', {
    schema: { summary: 'List tokens, without their secrets', tags, response: { 200: TokenList, ...errors } },
    onRequest,
    handler: () => engine.read(state => ({ tokens: [...state.tokens.values()].map(viewToken) })),
  })

  api.delete('/api/v1/tokens/:id', {
    schema: {
      summary: 'Revoke a token',
      tags,
      params: z.object({ id: z.string() }),
      response: { 204: z.null(), ...errors },
    },
    onRequest,
    handler: async (request, reply) => {
      await engine.execute({ kind: 'revokeToken', id: request.params.id })
      return reply.code(204).send(null)
    },
  })
}

function viewToken({ id, role, owner, label, createdAt, expiresAt, usedBy }: TokenState): Token {
  return { id, role, owner, label, createdAt: isoTime(createdAt), expiresAt: isoTimeOrNull(expiresAt), usedBy }
}
