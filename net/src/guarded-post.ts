import { withDeadline } from './deadline.ts'
import { type GuardedFetchOptions, parseUrl, placeOf } from './guarded-fetch.ts'
import { checkedAddresses, pinnedLookup, resolveBySystem } from './resolve-host.ts'

/** What is sent; nothing of the answer but its status is looked at. */
export interface Post {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Posts to a URL a stranger chose: reached only at an address that was checked, redirects are not followed. Resolves with the status, whatever it is. */
export async function guardedPost(
  url: string,
  post: Post,
  options: Omit<GuardedFetchOptions, 'maxBytes'>,
): Promise<number> {
  const target = parseUrl(url)
  return withDeadline(placeOf(target), options, async signal => {
    const allowed = typeof options.allowPrivate === 'function' ? options.allowPrivate(target) : options.allowPrivate
    const addresses = await checkedAddresses(target, options.resolve ?? resolveBySystem, allowed ?? false)
    signal.throwIfAborted()
    const { Agent, request } = await import('undici')
    const dispatcher = new Agent({ connect: { lookup: pinnedLookup(addresses) }, headersTimeout: 0, bodyTimeout: 0 })
    try {
      const { statusCode, body } = await request(target, { ...post, method: 'POST', dispatcher, signal })
      body.on('error', () => {}) // Left unread and destroyed below; its error has no other listener.
      return statusCode
    } finally {
      await dispatcher.destroy()
    }
  })
}
