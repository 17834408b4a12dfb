import { sha256 } from '@stoker/files'
import { type Change, Refused } from '@stoker/protocol'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { TokenState } from '../engine/owner-things.ts'
import { Doorkeeper, ORDINARY_LIMITS } from '../serving/rate-limit.ts'
import type { ApiContext } from './context.ts'

/** Roles that people and tools have; `join` and `worker` tokens open nothing here. */
export type ApiRole = 'admin' | 'submit' | 'read'

export interface Caller {
  readonly tokenId: string
  readonly owner: string
  readonly role: ApiRole
  readonly label: string
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    isAudited: boolean
  }
}

/** More tokens than this in use at once cost a hash per request again, nothing else. */
const RECENT_TOKENS = 1000
const BEARER = /^bearer +([\x21-\x7e]{1,200}) *$/i

/** All durable tokens by the hash of their secret, kept right by hearing of every commit, so that a request is known without waiting. */
export class TokenBook {
  readonly #byHash = new Map<string, TokenState>()
  readonly #hashById = new Map<string, string>()
  /** Only headers of valid tokens are kept, so guesses neither fill it nor gain from it. */
  readonly #recent = new Map<string, string>()
  readonly #now: () => number
  readonly door: Doorkeeper

  private constructor({ now, limits = ORDINARY_LIMITS }: ApiContext) {
    this.#now = now
    this.door = new Doorkeeper(limits, now)
  }

  static async open(context: ApiContext): Promise<{ book: TokenBook; close: () => void }> {
    const { engine } = context
    const book = new TokenBook(context)
    const close = engine.onCommit(({ changes }) => {
      for (const change of changes) book.#hear(change)
    })
    for (const token of await engine.read(state => [...state.tokens.values()])) book.#add(token)
    return { book, close }
  }

  /** Who asks; throws Refused when that cannot be known. */
  identify(header: string | undefined): TokenState {
    if (header === undefined) throw new Refused('auth.missing', 'send the header "Authorization: Bearer <token>"')
    const known = this.#recent.get(header)
    const token = this.#byHash.get(known ?? hashOf(header))
    if (token === undefined) throw new Refused('auth.invalid', 'this hub knows no such token, or it was revoked')
    const { expiresAt } = token
    if (expiresAt !== null && expiresAt <= this.#now()) {
      throw new Refused('auth.invalid', `the token expired at ${new Date(expiresAt).toISOString()}`)
    }
    if (known === undefined) this.#remember(header, token.hash)
    return token
  }

  #remember(header: string, hash: string): void {
    if (this.#recent.size >= RECENT_TOKENS) this.#recent.clear()
    this.#recent.set(header, hash)
  }

  #add(token: TokenState): void {
    this.#byHash.set(token.hash, token)
    this.#hashById.set(token.id, token.hash)
  }

  #hear(change: Change): void {
    if (change.c === 'token') {
      const { c: _, at, ...token } = change
      this.#add({ ...token, createdAt: at, usedBy: null })
    } else if (change.c === 'tokenRevoked') {
      this.#byHash.delete(this.#hashById.get(change.id) ?? '')
      this.#hashById.delete(change.id)
    }
  }
}

/** Refuses before the body is read; afterwards `callerOf` knows who asks. What only an admin may change is audited, and what asks for it. */
export function guard(
  tokens: TokenBook,
  roles: readonly ApiRole[],
  { audited = roles.every(role => role === 'admin') }: { readonly audited?: boolean } = {},
): onRequestHookHandler {
  return (request, _reply, done) => {
    try {
      request.caller = admit(tokens, known(tokens, request), roles, request)
      request.isAudited = audited && request.method !== 'GET' && request.method !== 'HEAD'
      done()
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

/** Throws Refused when the token is not for this, or is used too often. */
export function admit(
  { door }: TokenBook,
  { id, role, owner, label }: TokenState,
  roles: readonly ApiRole[],
  request: Pick<FastifyRequest, 'headers'>,
): Caller {
  const allowed = roles.find(known => known === role)
  if (allowed === undefined) {
    throw new Refused('auth.forbidden', `the token has the role "${role}"; this needs ${roles.join(' or ')}`)
  }
  if (allowed !== 'admin') door.passOwner(owner, request)
  return { tokenId: id, owner, role: allowed, label }
}

/** Guesses are slowed by address; a token that is known passes however many others guess from there. */
function known(tokens: TokenBook, request: FastifyRequest): TokenState {
  const { authorization } = request.headers
  try {
    return tokens.identify(authorization)
  } catch (error) {
    if (authorization !== undefined) tokens.door.passStranger(request.ip)
    throw error
  }
}

export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error(`${request.method} ${request.url} has no guard, but asks for its caller`)
  return request.caller
}

/** Whose jobs the caller means: all for an admin who names nobody; naming another owner is the admin's alone. */
export function ownerScope(caller: Caller, asked: string | undefined): string | null {
  if (caller.role === 'admin') return asked ?? null
  if (asked !== undefined && asked !== caller.owner) {
    throw new Refused('auth.forbidden', `the token belongs to "${caller.owner}" and was used to ask for "${asked}"`)
  }
  return caller.owner
}

function hashOf(header: string): string {
  const secret = BEARER.exec(header)?.[1]
  if (secret === undefined) {
    throw new Refused('auth.invalid', 'the Authorization header is not of the form "Bearer <token>"')
  }
  return sha256(secret)
}
