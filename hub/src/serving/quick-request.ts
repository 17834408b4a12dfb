import type { IncomingHttpHeaders } from 'node:http'

/** A request that came in one piece and says nothing unusual. */
export interface QuickRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const HEAD_END = '\r\n\r\n'
const HEADER = /^([A-Za-z-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/
const LENGTH = /^[1-9]\d{0,7}$/
const KEEPS = /^keep-alive$/i
const JSON_TYPE = /^application\/json(; ?charset=utf-8)?$/i

/** What a header may say here; those that mean nothing to a submit may say anything. */
const USUAL: ReadonlyMap<string, RegExp> = new Map([
  ['accept', /./],
  ['accept-encoding', /./],
  ['accept-language', /./],
  ['authorization', /./],
  ['connection', KEEPS],
  ['content-length', LENGTH],
  ['content-type', JSON_TYPE],
  ['host', /./],
  ['idempotency-key', /./],
  ['sec-fetch-mode', /./],
  ['user-agent', /./],
])
const NEEDED = ['authorization', 'content-length', 'content-type']

type Header = readonly [name: string, value: string]

/** As many lines are kept: a connection says the same few again and again, and a key of its own each time. */
const KEPT_LINES = 64

/** Reads requests with one request line, of one connection, whose heads are mostly the same. */
export class QuickReader {
  readonly #line: string
  readonly #known = new Map<string, Header>()
  #head = ''
  #headers: IncomingHttpHeaders = {}

  constructor(line: string) {
    this.#line = `${line}\r\n`
  }

  /** Null for anything but one whole, usual request. */
  read(bytes: Buffer): QuickRequest | null {
    const stop = bytes.indexOf(HEAD_END)
    if (stop === -1) return null
    const head = bytes.toString('latin1', 0, stop)
    if (head !== this.#head) {
      const headers = this.#headersOf(head)
      if (headers === null) return null
      this.#head = head
      this.#headers = headers
    }
    const from = stop + HEAD_END.length
    if (bytes.length - from !== Number(this.#headers['content-length'])) return null
    return { headers: this.#headers, body: bytes.toString('utf8', from) }
  }

  #headersOf(head: string): IncomingHttpHeaders | null {
    if (!head.startsWith(this.#line)) return null
    const headers: Record<string, string> = {}
    for (const text of head.slice(this.#line.length).split('\r\n')) {
      const header = this.#known.get(text) ?? this.#read(text)
      if (header === null || Object.hasOwn(headers, header[0])) return null
      headers[header[0]] = header[1]
    }
    return NEEDED.every(name => Object.hasOwn(headers, name)) ? headers : null
  }

  #read(text: string): Header | null {
    const [, given = '', value = ''] = HEADER.exec(text) ?? []
    const name = given.toLowerCase()
    if (USUAL.get(name)?.test(value) !== true) return null
    const header = [name, value] as const
    if (name !== 'idempotency-key' && this.#known.size < KEPT_LINES) this.#known.set(text, header)
    return header
  }
}
