import type { HubReply, HubRequest, Transport } from './transport.ts'

/** For callers that bring their own `fetch`; watching for silence is then up to it. */
export function fetchTransport(url: string, fetch: typeof globalThis.fetch): Transport {
  const base = url.replace(/\/$/, '')

  async function send(of: HubRequest): Promise<HubReply> {
    const response = await fetch(base + of.path, {
      method: of.method,
      headers: of.headers,
      body: (typeof of.body === 'object' ? copied(of.body) : (of.body ?? null)) as RequestInit['body'] & {},
      signal: of.signal ?? null,
      ...(typeof of.body === 'object' ? { duplex: 'half' } : {}),
    })
    return {
      status: response.status,
      contentType: response.headers.get('content-type') ?? '',
      header: name => response.headers.get(name),
      text: () => response.text(),
      bytes: response.body ?? nothing(),
    }
  }
  return { send, close: () => {} }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** A `fetch` may ask for the next part before it is done with the one before. */
async function* copied(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) yield Uint8Array.from(part)
}
