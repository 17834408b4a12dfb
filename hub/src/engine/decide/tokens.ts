import { Refused } from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import type { Emit } from './emit.ts'

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>

export function decideToken(
  state: State,
  { kind: _, ...token }: Of<'addToken'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['addToken'] {
  if (!state.tokenByHash.has(token.hash)) emit.change({ c: 'token', ...token, at: now.wall })
  return null
}

export function decideTokenRevoked(
  state: State,
  { id }: Of<'revokeToken'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['revokeToken'] {
  if (!state.tokens.has(id)) throw new Refused('token.not_found', `no token has the id ${id}`)
  emit.change({ c: 'tokenRevoked', id, at: now.wall })
  return null
}
