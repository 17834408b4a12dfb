import type { HubReply, HubRequest, Transport } from './transport.ts'

/** For callers that bring their own `fetch`; watching for silence is then up to it. */
export function fetchTransport(url: string, fetch: typeof globalThis.fetch): Transport {
  const base = url.replace(/\/$/, '')

  async function send(of: HubRequest): Promise<HubReply> {
    const response = await fetch(base + of.path, {
      method: of.method,
      headers: of.headers,
      body: (of.body ?? null) as RequestInit['body'] & {},
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
