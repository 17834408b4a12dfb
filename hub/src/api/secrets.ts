import {
  KeyRotated,
  MAX_SECRET_BYTES,
  NewSecret,
  Problem,
  Refused,
  Secret,
  SecretList,
  SecretName,
} from '@stoker/protocol'
import { z } from 'zod'
import type { SecretState } from '../engine/owner-things.ts'
import { type Caller, callerOf, guard, ownerScope } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { isoTime } from './iso-time.ts'
import { rotateKey } from './rotate-key.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const tags = ['secrets']
const params = z.object({ name: SecretName })
const OwnerQuery = z.strictObject({ owner: z.string().min(1).max(200).optional() })
const ListQuery = OwnerQuery.extend({
  limit: z.coerce.number().int().min(1).max(1000).default(200),
  cursor: z.string().max(600).optional(),
})

/** Values go in and never come out again; lists say names, sizes and times. */
export function addSecretRoutes(api: Api, context: RouteContext): void {
  const { engine, tokens, vault, alone } = context
  const act = guard(tokens, ['admin', 'submit'], { audited: true })

  api.get('/api/v1/secrets', {
    schema: {
      summary: 'List secrets, without their values',
      tags,
      querystring: ListQuery,
      response: { 200: SecretList, ...errors },
    },
    onRequest: guard(tokens, ['admin', 'submit', 'read']),
    handler: request => {
      const { owner, limit, cursor } = request.query
      const scope = ownerScope(callerOf(request), owner)
      const after = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString()
      return engine.read(state => pageOf([...state.secrets], scope, after, limit))
    },
  })

  api.put('/api/v1/secrets/:name', {
    schema: {
      summary: 'Set a secret; attempts that start later get the new value',
      tags,
      params,
      querystring: OwnerQuery,
      body: NewSecret,
      response: { 200: Secret, ...errors },
    },
    onRequest: act,
    handler: async request => {
      const { name } = request.params
      const owner = ownerOf(callerOf(request), request.query.owner)
      const value = bytesOf(request.body)
      const bytes = value.length
      const times = await alone(async () => {
        const sealed = await vault.seal(owner, name, value)
        return engine.execute({ kind: 'setSecret', owner, name, bytes, sealed })
      })
      return viewSecret({ owner, name, bytes, ...times })
    },
  })

  api.delete('/api/v1/secrets/:name', {
    schema: {
      summary: 'Remove a secret; attempts that have it keep it',
      tags,
      params,
      querystring: OwnerQuery,
      response: { 204: z.null(), ...errors },
    },
    onRequest: act,
    handler: async (request, reply) => {
      const owner = ownerOf(callerOf(request), request.query.owner)
      await engine.execute({ kind: 'removeSecret', owner, name: request.params.name })
      return reply.code(204).send(null)
    },
  })

  api.post('/api/v1/secret-key/rotate', {
    schema: {
      summary: 'Seal all secrets with a new key and forget the old one',
      tags,
      response: { 200: KeyRotated, ...errors },
    },
    onRequest: guard(tokens, ['admin']),
    handler: () => alone(() => rotateKey(context)),
  })
}

function pageOf(
  all: readonly (readonly [string, SecretState])[],
  owner: string | null,
  after: string,
  limit: number,
): SecretList {
  const mine = all.filter(([key, secret]) => key > after && (owner === null || secret.owner === owner))
  mine.sort(([a], [b]) => (a < b ? -1 : 1))
  const page = mine.slice(0, limit)
  const last = page.at(-1)?.[0]
  const next = mine.length > limit && last !== undefined ? Buffer.from(last).toString('base64url') : null
  return { secrets: page.map(([, secret]) => viewSecret(secret)), next }
}

function viewSecret({ owner, name, bytes, createdAt, changedAt }: SecretState): Secret {
  return { owner, name, bytes, createdAt: isoTime(createdAt), changedAt: isoTime(changedAt) }
}

/** One's own unless an admin names another. */
function ownerOf(caller: Caller, asked: string | undefined): string {
  return ownerScope(caller, asked) ?? caller.owner
}

function bytesOf({ value, encoding = 'utf8' }: NewSecret): Buffer {
  const bytes = Buffer.from(value, encoding)
  if (encoding === 'base64' && bytes.toString('base64').replace(/=+$/, '') !== value.replace(/=+$/, ''))
    throw new Refused('request.invalid', 'value: it is said to be base64, but it is not')
  if (bytes.length > MAX_SECRET_BYTES)
    throw new Refused('request.too_large', `the secret has ${bytes.length} bytes, at most ${MAX_SECRET_BYTES} are kept`)
  return bytes
}
