import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { nodeTransport } from '@stoker/client'
import type { Trust } from '@stoker/net'
import { textOf } from './text-of.ts'

/** Far above what a hub has to say; a stranger's hub fills no memory. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const KEPT_TEXT = 300
/** A proxy or a captive portal answers like this, with any status; no hub does. */
const PAGE = /^\s*<(!doctype|html)/i

export interface Answer {
  readonly status: number
  /** Undefined where the body is no JSON. */
  readonly json: unknown
  /** How the body begins, for sentences. */
  readonly text: string
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  /** As it is sent: text that was written down before is sent in the same words. */
  readonly json?: string | undefined
  readonly body?:
    | { readonly type: string; readonly length: number; readonly bytes: AsyncIterable<Uint8Array> }
    | undefined
  /** For the whole exchange, except where bytes are streamed: there for each silence. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** No whole answer came back: the hub is away, too slow, or says more than anyone should. */
export class HubAway extends Error {}

/** HTTP with a foreign hub: its prefix and login are added, redirects are not followed, answers are bounded. */
export class HubCalls {
  readonly #transport: ReturnType<typeof nodeTransport>
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, { login, trust = {} }: { readonly login: string | null; readonly trust?: Trust }) {
    this.#transport = nodeTransport(url, trust)
    this.#headers = login === null ? {} : { authorization: `Basic ${Buffer.from(login, 'utf8').toString('base64')}` }
  }

  async send(call: Call): Promise<Answer> {
    try {
      const reply = await this.#reply(call, true)
      const bytes = await readUpTo(reply.bytes, MAX_ANSWER_BYTES)
      const text = bytes.toString('utf8')
      if (PAGE.test(text)) throw new Error('it answered with a web page: something else is in its place')
      return { status: reply.status, json: tryJson(text), text: text.slice(0, KEPT_TEXT) }
    } catch (error) {
      throw new HubAway(textOf(error), { cause: error })
    }
  }

  /** Writes the body of a 200 into a file; other answers leave none. */
  async download(
    call: Pick<Call, 'path' | 'timeoutMs' | 'signal'>,
    file: string,
    maxBytes: number,
  ): Promise<{ readonly status: number; readonly sha256: string; readonly size: number }> {
    const reply = await this.#reply({ ...call, method: 'GET' }, false)
    if (reply.status !== 200) {
      await readUpTo(reply.bytes, MAX_ANSWER_BYTES)
      return { status: reply.status, sha256: '', size: 0 }
    }
    return { status: 200, ...(await writeHashed(reply.bytes, file, maxBytes)) }
  }

  close(): void {
    this.#transport.close()
  }

  #reply({ method, path, json, body, timeoutMs, signal }: Call, isShort: boolean) {
    const signals = [signal, isShort && body === undefined ? AbortSignal.timeout(timeoutMs) : undefined]
    const present = signals.filter(one => one !== undefined)
    const type = json !== undefined ? 'application/json' : body?.type
    return this.#transport.send({
      method,
      path,
      headers: {
        ...this.#headers,
        accept: 'application/json, */*',
        'user-agent': 'stoker-worker',
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(body === undefined ? {} : { 'content-length': String(body.length) }),
      },
      body: json ?? body?.bytes,
      silenceMs: timeoutMs,
      ...(present.length === 0 ? {} : { signal: AbortSignal.any(present) }),
    })
  }
}

/** Worth asking again: the hub is broken, busy, or does not know us yet. All other refusals are final. */
export function isTemporary(status: number): boolean {
  return status >= 500 || [401, 407, 408, 425, 429].includes(status)
}

export function isFine(status: number): boolean {
  return status >= 200 && status <= 299
}

async function readUpTo(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of bytes) {
    size += part.length
    if (size > maxBytes) throw new Error(`an answer has at most ${maxBytes} bytes, this one has more`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

async function writeHashed(bytes: AsyncIterable<Uint8Array>, file: string, maxBytes: number) {
  const hash = createHash('sha256')
  const handle = await open(file, 'w', 0o600)
  let size = 0
  try {
    for await (const part of bytes) {
      size += part.length
      if (size > maxBytes) throw new TooLarge(`at most ${maxBytes} bytes are taken, the hub sends more`)
      hash.update(part)
      await handle.write(part)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  return { sha256: hash.digest('hex'), size }
}

/** What the hub sends is beyond what this worker takes: asking again would not help. */
export class TooLarge extends Error {}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
