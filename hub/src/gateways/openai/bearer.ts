import { sha256 } from '@stoker/files'
import type { FastifyRequest } from 'fastify'
import { type TokenHolder, tokenHolder } from '../../serving/token-holder.ts'
import { ApiError } from './api-error.ts'
import type { OpenAiContext } from './context.ts'

const BEARER = /^bearer +([\x21-\x7e]{1,500}) *$/i

/** Who asks; guesses are slowed by address, and no token is ever part of a message. */
export async function bearerOf(
  { engine, door, now }: Pick<OpenAiContext, 'engine' | 'door' | 'now'>,
  request: FastifyRequest,
): Promise<TokenHolder> {
  const { authorization } = request.headers
  const secret = BEARER.exec(authorization ?? '')?.[1]
  const holder = secret === undefined ? null : await tokenHolder(engine, sha256(secret), now())
  if (holder === null) {
    door.passStranger(request.ip)
    throw new ApiError(
      401,
      authorization === undefined
        ? 'no API key was sent; send "Authorization: Bearer <token>" with a token of this hub that may submit'
        : 'incorrect API key: this hub knows no such token, it has expired, or it may not submit',
      { type: 'authentication_error', code: 'invalid_api_key' },
    )
  }
  if (!holder.isAdmin) door.passOwner(holder.owner, request)
  return holder
}
