import type { Client } from '@stoker/client'
import type { SessionView } from '@stoker/protocol'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { parseNewest } from './selector.ts'

export const SESSION_HELP = 'id, last digits, last, last~2, @NAME'

/** What an id, or the end of one, is made of. */
const DIGITS = /^[0-9a-f-]+$/i
const PAGE = 200
/** Ended sessions stand between the live ones: after so many pages nobody means one of them. */
const MOST_PAGES = 20

/** One session; `last` and `@NAME` are the newest of one's own that live, anything else is for the hub to find. */
export async function resolveSession(client: Pick<Client, 'sessions' | 'me'>, word: string): Promise<string> {
  const newest = parseNewest(word)
  if (newest === null) {
    if (DIGITS.test(word)) return word
    throw noSession(`"${word}" names no session`, `a session is named by ${SESSION_HELP}`)
  }
  const { owner } = await client.me()
  const found: SessionView[] = []
  for (let pages = 0, cursor: string | null = null; pages < MOST_PAGES; pages += 1) {
    const page = await client.sessions({ owner, limit: PAGE, ...(cursor === null ? {} : { cursor }) })
    const isMeant = ({ state, name }: SessionView) =>
      state !== 'ended' && (newest.name === null || name === newest.name)
    found.push(...page.sessions.filter(isMeant))
    const session = found[newest.back]
    if (session !== undefined) return session.id
    cursor = page.next
    if (cursor === null) break
  }
  const which = newest.name === null ? 'that live' : `named "${newest.name}" that live`
  throw noSession(
    `"${word}" names no session: ${owner} has ${found.length} ${which}`,
    'see them with:  stoker session list',
  )
}

function noSession(message: string, advice: string): Failure {
  return new Failure(message, { exitCode: EXIT.notFound, code: 'session.not_found', details: [advice] })
}
