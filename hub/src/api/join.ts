import { sha256 } from '@stoker/files'
import { PROBLEMS, Refused } from '@stoker/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { TokenState } from '../engine/owner-things.ts'
import type { Api, RouteContext, WorkerBundle } from './context.ts'
import { joinScript, refusalScript } from './join-script.ts'

const SCRIPT_TYPE = 'text/x-shellscript; charset=utf-8'
/** What can stand in a URL as its host; nothing of it means anything to a shell. */
const HOST = /^[A-Za-z0-9.-]{1,253}(:\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?$/
const params = z.object({ token: z.string().max(200) })
const schema = { hide: true, params }

/** What the line of `stoker join` fetches: a script, and the worker it installs. The one-time token in the path is the key. */
export function addJoinRoutes(api: Api, context: RouteContext): void {
  api.get('/join/:token', {
    schema,
    handler: async (request, reply) => {
      const { token } = request.params
      try {
        const { usedBy } = await findToken(token, context)
        const bundle = await bundleOf(context)
        const place = placeOf(request, context)
        return await sendScript(reply, 200, joinScript({ ...place, token, usedBy, sha256: bundle.sha256 }))
      } catch (error) {
        // Piped into a shell, only a script can say why; the status is for everyone else.
        if (!(error instanceof Refused)) throw error
        return sendScript(reply, PROBLEMS[error.code].status, refusalScript(error.message))
      }
    },
  })

  api.get('/join/:token/worker.tgz', {
    schema,
    handler: async (request, reply) => {
      await findToken(request.params.token, context)
      const { bytes } = await bundleOf(context)
      return reply.header('content-type', 'application/gzip').header('cache-control', 'no-store').send(bytes)
    },
  })
}

/** A used token still opens the door for the worker that used it: pasting the line again must work there. */
async function findToken(secret: string, { engine, now }: RouteContext): Promise<TokenState> {
  const hash = sha256(secret)
  const token = await engine.read(state => state.tokens.get(state.tokenByHash.get(hash) ?? ''))
  if (token?.role !== 'join')
    throw new Refused('auth.invalid', 'this hub knows no such join token, or it was revoked; make another: stoker join')
  if (token.expiresAt !== null && token.expiresAt <= now()) {
    const when = new Date(token.expiresAt).toISOString()
    throw new Refused('auth.invalid', `the join token expired at ${when}; make another on the hub: stoker join`)
  }
  return token
}

async function bundleOf({ workerBundle }: RouteContext): Promise<WorkerBundle> {
  const bundle = await workerBundle()
  if (bundle === null) throw new Refused('hub.unbuilt', 'this hub runs from its sources and has no worker to give away')
  return bundle
}

/** The address the machine reached us by is the one its worker will use. */
function placeOf(request: FastifyRequest, { listeners }: RouteContext): { url: string; pin: string | null } {
  const { host = '' } = request.headers
  if (!HOST.test(host)) throw new Refused('request.invalid', 'the Host header names no host')
  const secure = 'encrypted' in request.socket
  const shown = secure ? listeners.list().listeners.find(({ pin }) => pin !== null) : undefined
  return { url: `${secure ? 'https' : 'http'}://${host}`, pin: shown?.selfSigned === true ? shown.pin : null }
}

function sendScript(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).header('content-type', SCRIPT_TYPE).header('cache-control', 'no-store').send(text)
}
