import type { IncomingMessage, RequestListener } from 'node:http'
import { sha256 } from '@stoker/files'
import type { Role } from '@stoker/protocol'
import type { EngineLoop } from '../engine/loop.ts'

/** Who speaks a foreign protocol: the holder of a token, or someone on this machine where the operator lets such in. */
export interface DialectCaller {
  readonly owner: string
  readonly role: Role
  /** Null: no token, from this machine. */
  readonly token: string | null
}

/** Acts for whoever comes without a token. */
const LOCAL_CALLER: DialectCaller = { owner: 'admin', role: 'admin', token: null }
const TOKEN_PATH = /^\/t\/([\x21-\x2e\x30-\x7e]{1,500})(?=\/|$)/

/**
 * Old clients put addresses together by pasting: slashes may be doubled, and a token can only travel as the user part of
 * the address or as the beginning `/t/TOKEN` of the path. The inner listener sees one slash, and a bearer token.
 */
export function withPastedPaths(inner: RequestListener): RequestListener {
  return (request, response) => {
    straightenPath(request)
    return inner(request, response)
  }
}

/** The same for a request that no listener gets, such as an upgrade. */
export function straightenPath(request: IncomingMessage): void {
  const url = `/${(request.url ?? '/').replace(/^\/+/, '')}`
  const prefix = TOKEN_PATH.exec(url)
  const token = prefix === null ? null : decoded(prefix[1] ?? '')
  if (token !== null) request.headers.authorization = `Bearer ${token}`
  request.url = token === null ? url : `/${url.slice(prefix?.[0].length ?? 0).replace(/^\/+/, '')}`
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Null: nobody who may come in. */
export async function dialectCaller(
  engine: Pick<EngineLoop, 'read'>,
  request: Pick<IncomingMessage, 'headers' | 'socket'>,
  { now, isOpen }: { readonly now: number; readonly isOpen: boolean },
): Promise<DialectCaller | null> {
  const secret = secretOf(request.headers)
  if (secret === null) return isOpen && isLocal(request) ? LOCAL_CALLER : null
  const hash = sha256(secret)
  const token = await engine.read(({ tokens, tokenByHash }) => tokens.get(tokenByHash.get(hash) ?? ''))
  if (token === undefined || (token.expiresAt !== null && token.expiresAt <= now)) return null
  return { owner: token.owner, role: token.role, token: token.id }
}

/** The password of Basic credentials, a bearer token, or the key clients of our own API send. */
function secretOf({ authorization, 'x-api-key': key }: IncomingMessage['headers']): string | null {
  if (typeof key === 'string' && key !== '') return key
  const basic = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1]
  if (basic !== undefined) {
    const pair = Buffer.from(basic, 'base64').toString()
    return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : pair
  }
  return /^Bearer (\S{1,500})$/i.exec(authorization ?? '')?.[1] ?? null
}

const LOCAL_PAGE = /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/** A page of another site in a browser of this machine, or a proxy on it, speaks for others: neither is someone here. */
function isLocal({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean {
  const address = socket.remoteAddress ?? ''
  const isLoopback = address === '::1' || /^(::ffff:)?127\./.test(address)
  const { origin, forwarded, 'x-forwarded-for': from } = headers
  return (
    isLoopback && forwarded === undefined && from === undefined && (origin === undefined || LOCAL_PAGE.test(origin))
  )
}
