import type { Dispatcher } from 'undici'
import { ContentRefused, type ContentReply, type ContentRequest, type ContentSend } from './content/port.ts'
import { type GuardedFetchOptions, MAX_REDIRECTS, parseUrl, placeOf, redirectOf } from './guarded-fetch.ts'
import { GuardedFetchError } from './guarded-fetch-error.ts'
import { checkedAddresses, pinnedLookup, resolveBySystem } from './resolve-host.ts'

/** What an answer that is no content may say at most. */
const MOST_TEXT = 10_000

/**
 * Content at a URL that a stranger chose, as a stream that can be continued: every hop is guarded as in `guardedFetch`.
 * No server of others knows our name for the content, so a range is asked for without conditions; its hash proves it.
 */
export function guardedSend(
  url: string,
  options: Pick<GuardedFetchOptions, 'allowPrivate' | 'resolve'> = {},
): ContentSend {
  const start = parseUrl(url)
  return async request => {
    let place = start
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const answer = await openHop(place, request, options).catch(asRefusal)
      if (!('redirect' in answer)) return answer
      place = answer.redirect
    }
    const fact = `at most ${MAX_REDIRECTS} redirects are followed, ${placeOf(start)} has more`
    throw new ContentRefused(400, 'fetch.redirects', fact)
  }
}

/** What the guard forbids stays forbidden; only a name without an address may have one later. */
function asRefusal(error: unknown): never {
  if (error instanceof GuardedFetchError && error.code !== 'fetch.unresolved')
    throw new ContentRefused(403, error.code, error.message)
  throw error
}

async function openHop(
  url: URL,
  { method, headers: { 'if-range': _, ...headers }, signal }: ContentRequest,
  { allowPrivate = false, resolve = resolveBySystem }: Pick<GuardedFetchOptions, 'allowPrivate' | 'resolve'>,
): Promise<ContentReply | { readonly redirect: URL }> {
  const isPrivateAllowed = typeof allowPrivate === 'function' ? allowPrivate(url) : allowPrivate
  const addresses = await checkedAddresses(url, resolve, isPrivateAllowed)
  signal?.throwIfAborted()
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({ connect: { lookup: pinnedLookup(addresses) }, headersTimeout: 0, bodyTimeout: 0 })
  try {
    const response = await request(url, { method, headers, dispatcher, signal: signal ?? null })
    response.body.on('error', () => {}) // Whoever reads hears of it; a body nobody reads is destroyed.
    const redirect = redirectOf(url, response)
    if (redirect === null) return replyOf(response, dispatcher)
    await dispatcher.destroy()
    return { redirect }
  } catch (error) {
    await dispatcher.destroy()
    throw error
  }
}

function replyOf({ statusCode, headers, body }: Dispatcher.ResponseData, dispatcher: Dispatcher): ContentReply {
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for await (const part of body) yield part as Uint8Array
    } finally {
      await dispatcher.destroy()
    }
  }
  return {
    status: statusCode,
    header: name => {
      const value = headers[name]
      return typeof value === 'string' ? value : null
    },
    bytes: bytes(),
    text: async () => {
      let text = ''
      for await (const part of bytes()) {
        text += Buffer.from(part).toString()
        if (text.length > MOST_TEXT) break
      }
      return text
    },
  }
}
