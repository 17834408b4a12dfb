import type { Role } from '@stoker/protocol'
import type { FastifyRequest } from 'fastify'
import { type DialectCaller, dialectCaller } from '../../../serving/dialect-caller.ts'
import { ConsumerError } from './consumer-error.ts'
import type { ConsumerContext } from './context.ts'

export const READERS: readonly Role[] = ['admin', 'submit', 'read']
export const SUBMITTERS: readonly Role[] = ['admin', 'submit']
export const ANYONE: readonly Role[] = [...READERS, 'worker']
export const ADMINS: readonly Role[] = ['admin']

/** Who asks, if they may; guesses are slowed by address, owners by what they ask for. */
export async function admit(
  { engine, door, now, isOpen }: ConsumerContext,
  request: FastifyRequest,
  roles: readonly Role[],
): Promise<DialectCaller> {
  const caller = await dialectCaller(engine, request.raw, { now: now(), isOpen })
  if (caller === null) {
    door.passStranger(request.ip)
    throw new ConsumerError(
      401,
      'Unauthorized',
      'a token is needed: as "Authorization: Bearer", as the password in the address, or as /t/TOKEN before the path',
    )
  }
  if (!roles.includes(caller.role))
    throw new ConsumerError(
      403,
      'Forbidden',
      `the token has the role "${caller.role}"; this needs ${roles.join(' or ')}`,
    )
  if (caller.role !== 'admin') door.passOwner(caller.owner, request)
  return caller
}

/** True if the caller may see what belongs to the owner. */
export function maySee(caller: DialectCaller, owner: string): boolean {
  return caller.role === 'admin' || caller.owner === owner
}
