import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { createInterface } from 'node:readline'

/** One event as a client of the old service reads it. */
export interface SseEvent {
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  readonly data: any
  readonly id: number | null
}

export interface GpuCall {
  readonly method?: string
  readonly body?: unknown
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** A plain client, written as those of the old service are: nothing but HTTP and the documented text. */
export class GpuClient {
  readonly url: string
  readonly #key: string

  constructor(url: string, key: string) {
    this.url = url
    this.#key = key
  }

  /** The whole answer, read as JSON where it is. */
  async call(path: string, call: GpuCall = {}) {
    const { response } = await this.#ask(path, call)
    const text = await textOf(response)
    const isJson = /json/.test(response.headers['content-type'] ?? '')
    return { status: response.statusCode ?? 0, headers: response.headers, text, json: isJson ? JSON.parse(text) : null }
  }

  /** A stream that is read line by line. */
  async open(path: string, call: GpuCall = {}): Promise<GpuStream> {
    const { asked, response } = await this.#ask(path, call)
    if (response.statusCode !== 200)
      throw new Error(`a stream was asked for, ${response.statusCode} came: ${await textOf(response)}`)
    return new GpuStream(asked, response)
  }

  /** A stream to its end, split at blank lines. */
  async whole(path: string, call: GpuCall = {}): Promise<readonly SseEvent[]> {
    return eventsIn((await this.call(path, call)).text)
  }

  #ask(path: string, call: GpuCall): Promise<{ asked: ClientRequest; response: IncomingMessage }> {
    const { body, key = this.#key, headers = {} } = call
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const asked = request(this.url + path, {
        method: call.method ?? (text === undefined ? 'GET' : 'POST'),
        agent: false,
        headers: {
          ...(key === null ? {} : { 'x-api-key': key }),
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      })
      asked.once('response', response => resolve({ asked, response }))
      asked.once('error', reject)
      asked.end(text)
    })
  }
}

/** Reads lines as they come; an event is whole at a blank line. */
export class GpuStream {
  readonly response: IncomingMessage
  readonly #asked: ClientRequest
  readonly #events: AsyncGenerator<SseEvent, void>

  constructor(asked: ClientRequest, response: IncomingMessage) {
    this.#asked = asked
    this.response = response
    this.#events = eventsOf(response)
  }

  async next(): Promise<SseEvent> {
    const { value, done } = await this.#events.next()
    if (done === true) throw new Error('one more event was expected, the stream has ended')
    return value
  }

  /** Up to and with the first event that is wanted. */
  async until(isWanted: (event: SseEvent) => boolean): Promise<readonly SseEvent[]> {
    const seen: SseEvent[] = []
    for (;;) {
      const event = await this.next()
      seen.push(event)
      if (isWanted(event)) return seen
    }
  }

  async rest(): Promise<readonly SseEvent[]> {
    const seen: SseEvent[] = []
    for await (const event of this.#events) seen.push(event)
    return seen
  }

  drop(): void {
    this.#asked.destroy()
  }
}

async function* eventsOf(response: IncomingMessage): AsyncGenerator<SseEvent, void> {
  let lines: string[] = []
  try {
    for await (const line of createInterface({ input: response })) {
      if (line !== '') lines.push(line)
      else {
        const event = eventIn(lines)
        lines = []
        if (event !== null) yield event
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
  }
}

function eventsIn(text: string): readonly SseEvent[] {
  return text.split('\n\n').flatMap(block => eventIn(block.split('\n').filter(line => line !== '')) ?? [])
}

/** The name comes before the data; comments are no events. */
function eventIn(lines: readonly string[]): SseEvent | null {
  const said = lines.filter(line => !line.startsWith(':'))
  if (said.length === 0) return null
  const [first = '', second = '', third, ...more] = said
  if (!first.startsWith('event: ') || !second.startsWith('data: ') || more.length > 0)
    throw new Error(`an event is a name, then data, then perhaps an id; found ${JSON.stringify(lines)}`)
  const id = third === undefined ? null : Number(/^id: (\d+)$/.exec(third)?.[1])
  return { event: first.slice(7), data: JSON.parse(second.slice(6)), id }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part)
  return Buffer.concat(parts).toString()
}
