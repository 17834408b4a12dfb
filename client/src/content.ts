import { ContentRefused, type ContentSend } from '@stoker/net'
import { HubRefused, HubUnreachable } from './errors.ts'
import type { Transport } from './transport.ts'

/** A connection that says nothing for this long is opened anew; bytes that move, however slowly, keep it. */
const STALL_MS = 60_000
/** So often without an answer, with growing pauses, and the hub counts as gone: more than half a minute. */
export const MAX_AWAY = 8

/** Where content is sent and from where it comes, with the token of the caller. */
export interface ContentPlace {
  readonly url: string
  readonly token: string | undefined
  readonly transport: Transport
}

export function contentSend({ url, token, transport }: ContentPlace, path: string): ContentSend {
  const auth: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return async request => {
    try {
      return await transport.send({ ...request, path, headers: { ...auth, ...request.headers }, silenceMs: STALL_MS })
    } catch (error) {
      request.signal?.throwIfAborted()
      throw new HubUnreachable(url, error)
    }
  }
}

/** What the hub refuses in the middle of a transfer is told like every other refusal. */
export async function asHubRefused<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ContentRefused)) throw error
    const { status, code, message } = error
    throw new HubRefused({
      type: `urn:stoker:problem:${code}`,
      title: message,
      status,
      detail: message,
      code: code === '' ? 'answer.foreign' : code,
    })
  }
}
