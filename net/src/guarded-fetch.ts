import type { Dispatcher } from 'undici'
import { withDeadline } from './deadline.ts'
import { GuardedFetchError } from './guarded-fetch-error.ts'
import { checkedAddresses, pinnedLookup, type Resolve, resolveBySystem } from './resolve-host.ts'

export const MAX_REDIRECTS = 5
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

/** `timeoutMs` covers names, all hops and the body; `allowPrivate` may be decided per hop. */
export interface GuardedFetchOptions {
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly allowPrivate?: boolean | ((url: URL) => boolean) | undefined
  readonly signal?: AbortSignal | undefined
  readonly resolve?: Resolve | undefined
}

/** The bytes as sent: no content encoding is asked for or undone. */
export interface Fetched {
  readonly bytes: Buffer
  readonly finalUrl: string
  readonly contentType: string | null
}

/** For URLs a stranger chose: each hop is resolved once and reached only at the address that was checked. */
export async function guardedFetch(url: string, options: GuardedFetchOptions): Promise<Fetched> {
  const start = parseUrl(url)
  return withDeadline(placeOf(start), options, signal => followHops(start, options, signal))
}

async function followHops(start: URL, options: GuardedFetchOptions, signal: AbortSignal): Promise<Fetched> {
  let url = start
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await fetchHop(url, options, signal)
    if (!('redirect' in answer)) return answer
    url = answer.redirect
  }
  const fact = `at most ${MAX_REDIRECTS} redirects are followed, ${placeOf(start)} has more`
  throw new GuardedFetchError('fetch.redirects', fact)
}

async function fetchHop(
  url: URL,
  options: GuardedFetchOptions,
  signal: AbortSignal,
): Promise<Fetched | { readonly redirect: URL }> {
  const isPrivateAllowed = typeof options.allowPrivate === 'function' ? options.allowPrivate(url) : options.allowPrivate
  const addresses = await checkedAddresses(url, options.resolve ?? resolveBySystem, isPrivateAllowed ?? false)
  signal.throwIfAborted()
  // Few processes ever fetch; those that do not are spared its memory.
  const { Agent, request } = await import('undici')
  const dispatcher = new Agent({ connect: { lookup: pinnedLookup(addresses) }, headersTimeout: 0, bodyTimeout: 0 })
  try {
    const response = await request(url, { dispatcher, signal })
    response.body.on('error', () => {}) // A body left unread is destroyed below; its error has no other listener.
    const redirect = redirectOf(url, response)
    return redirect === null ? await readWhole(url, response, options.maxBytes) : { redirect }
  } finally {
    await dispatcher.destroy()
  }
}

export function redirectOf(from: URL, { statusCode, headers }: Dispatcher.ResponseData): URL | null {
  if (!REDIRECTS.includes(statusCode) || typeof headers.location !== 'string') return null
  return parseUrl(headers.location, from)
}

async function readWhole(url: URL, response: Dispatcher.ResponseData, maxBytes: number): Promise<Fetched> {
  const { statusCode, headers } = response
  if (statusCode < 200 || statusCode > 299) {
    throw new GuardedFetchError('fetch.status', `a 2xx answer is needed, ${placeOf(url)} gave ${statusCode}`)
  }
  const announced = Number(headers['content-length'] ?? 0)
  if (announced > maxBytes) throw tooLarge(url, maxBytes, `announces ${announced}`)
  const type = headers['content-type']
  const bytes = await readBody(url, response.body, maxBytes)
  return { bytes, finalUrl: url.href, contentType: typeof type === 'string' ? type : null }
}

async function readBody(url: URL, body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(url, maxBytes, 'sends more')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

function tooLarge(url: URL, maxBytes: number, fact: string): GuardedFetchError {
  return new GuardedFetchError('fetch.size', `at most ${maxBytes} bytes are accepted, ${placeOf(url)} ${fact}`)
}

/** Only http and https are ever spoken. */
export function parseUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new GuardedFetchError('fetch.url', `a URL is needed, got ${text}`)
  const url = new URL(text, base)
  if (url.protocol === 'http:' || url.protocol === 'https:') return url
  throw new GuardedFetchError('fetch.scheme', `only http and https are fetched, the URL is ${url.protocol}`)
}

/** Without query and password: what a message names may end up in a log, what a signed URL grants must not. */
export function placeOf(url: URL): string {
  return `${url.origin}${url.pathname}`
}
