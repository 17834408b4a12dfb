import type { IncomingMessage } from 'node:http'
import { Refused, type Role } from '@stoker/protocol'
import type { FastifyRequest } from 'fastify'
import { type DialectCaller, dialectCaller } from '../../../serving/dialect-caller.ts'
import type { ConsumerContext } from './context.ts'

/** Who may look: customers, those who only read, and providers at what is theirs. */
export const LOOKERS: readonly Role[] = ['admin', 'submit', 'read']
export const CUSTOMERS: readonly Role[] = ['admin', 'submit']
export const PROVIDERS: readonly Role[] = ['admin', 'worker']

/** Who asks; guesses are slowed by address. */
export async function callerOf(
  context: ConsumerContext,
  request: FastifyRequest,
  roles: readonly Role[],
): Promise<DialectCaller> {
  const caller = await knownCaller(context, request.raw)
  if (caller === null) {
    context.door.passStranger(request.ip)
    throw new Refused('auth.invalid', 'a token of this hub is needed, as the password of the address or as /t/TOKEN')
  }
  if (caller.role !== 'admin') context.door.passOwner(caller.owner, request)
  if (!roles.includes(caller.role))
    throw new Refused('auth.forbidden', `the token has the role ${caller.role}, this needs ${roles.join(' or ')}`)
  return caller
}

/** Null: nobody who may come in. */
export function knownCaller(
  { engine, now, isOpen }: ConsumerContext,
  request: Pick<IncomingMessage, 'headers' | 'socket'>,
): Promise<DialectCaller | null> {
  return dialectCaller(engine, request, { now: now(), isOpen })
}
