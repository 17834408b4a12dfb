import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '@stoker/files'
import type { FastifyRequest } from 'fastify'
import { type TokenHolder, tokenHolder } from '../../serving/token-holder.ts'
import { AnswerError } from './answer-error.ts'
import type { GpuServiceContext } from './context.ts'

export type KeyHolder = TokenHolder

/** Owns what comes with the key of the environment. */
const INTERNAL_OWNER = 'gpu-service'
const KEY_FORM = /^[\x21-\x7e]{1,500}$/

/** Who holds the key of a request; guesses are slowed by address, and no key is ever part of a message. */
export async function keyHolder(context: GpuServiceContext, request: FastifyRequest): Promise<KeyHolder> {
  const key = request.headers['x-api-key']
  const holder = typeof key === 'string' && KEY_FORM.test(key) ? await holderOf(context, key) : null
  if (holder === null) {
    context.door.passStranger(request.ip)
    throw new AnswerError(401, 'Invalid API key')
  }
  if (!holder.isAdmin) context.door.passOwner(holder.owner, request)
  return holder
}

/** Hashes are compared, so that neither the time nor a table tells how much of a key was right. */
async function holderOf({ engine, presets, now }: GpuServiceContext, key: string): Promise<KeyHolder | null> {
  const hash = sha256(key)
  const { internalApiKey } = presets.settings
  if (internalApiKey !== null && timingSafeEqual(Buffer.from(hash), Buffer.from(sha256(internalApiKey))))
    return { owner: INTERNAL_OWNER, isAdmin: false }
  return tokenHolder(engine, hash, now())
}
