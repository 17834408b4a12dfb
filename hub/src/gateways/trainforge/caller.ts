import type { FastifyReply, FastifyRequest } from 'fastify'
import { removedPrefix } from '../../serving/by-prefix.ts'
import { type DialectCaller, dialectCaller } from '../../serving/dialect-caller.ts'
import { AnswerError } from './answer-error.ts'
import type { TrainForgeContext } from './context.ts'
import type { WorkerCall } from './registrar.ts'

const callers = new WeakMap<FastifyRequest, DialectCaller>()
const HOST = /^[A-Za-z0-9._\-[\]:]{1,255}$/
const PREFIX = /^(\/[A-Za-z0-9._~-]{1,100}){0,8}$/

/** Lets in whoever may speak for workers; afterwards `workerCall` knows who it is. */
export function workersOnly(context: TrainForgeContext) {
  return async (request: FastifyRequest, _reply: FastifyReply): Promise<void> => {
    const { wall: now } = context.clock()
    const caller = await dialectCaller(context.engine, request.raw, { now, isOpen: context.isOpen })
    if (caller === null) {
      context.door.passStranger(request.ip)
      const how = 'put a token of the role "worker" into the address: http://worker:TOKEN@host:port'
      throw new AnswerError(401, `no valid token came with the call; ${how}`)
    }
    if (caller.role !== 'worker' && caller.role !== 'admin')
      throw new AnswerError(403, `the token has the role "${caller.role}", workers need one of the role "worker"`)
    if (caller.role !== 'admin') context.door.passOwner(caller.owner, request)
    callers.set(request, caller)
  }
}

export function workerCall(request: FastifyRequest): WorkerCall {
  const caller = callers.get(request)
  if (caller === undefined) throw new Error(`${request.method} ${request.url} has no guard, but asks who calls`)
  return { caller, address: request.ip }
}

/** Scheme, host and prefix the caller reached the hub by, so that what it starts reaches it too. What a proxy says is believed: it concerns nobody but the caller. */
export function reachedAt(request: FastifyRequest): string {
  const said = (name: string): string | undefined => {
    const value = request.headers[name]
    return typeof value === 'string' ? value.split(',')[0]?.trim() : undefined
  }
  const forwarded = said('x-forwarded-proto')
  const scheme = forwarded === 'https' || forwarded === 'http' ? forwarded : request.protocol
  const host = said('x-forwarded-host') ?? request.headers.host ?? ''
  const outer = said('x-forwarded-prefix')?.replace(/\/+$/, '') ?? ''
  const { localAddress, localPort } = request.socket
  const known = HOST.test(host)
    ? host
    : `${localAddress?.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
  return `${scheme}://${known}${PREFIX.test(outer) ? outer : ''}${removedPrefix(request.raw)}`
}
