import type { TestHub } from './test-hub.ts'

export interface SeenEvent {
  readonly event: string
  readonly id: string | null
  /** The data as JSON; a test that reads a wrong shape fails by that. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  readonly data: any
}

export interface ReadOptions {
  readonly token?: string | undefined
  readonly lastId?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** The events of one connection, until the hub closes it. */
export async function* readEvents(
  hub: TestHub,
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<SeenEvent, void> {
  const reply = await fetch(hub.url + path, {
    headers: {
      authorization: `Bearer ${options.token ?? hub.admin}`,
      ...(options.lastId === undefined ? {} : { 'last-event-id': options.lastId }),
    },
    signal: options.signal ?? null,
  })
  if (reply.status !== 200 || reply.body === null)
    throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`)
  const decoder = new TextDecoder()
  let held = ''
  for await (const bytes of reply.body) {
    held += decoder.decode(bytes, { stream: true })
    for (let end = held.indexOf('\n\n'); end !== -1; end = held.indexOf('\n\n')) {
      const seen = parseBlock(held.slice(0, end))
      held = held.slice(end + 2)
      if (seen !== null) yield seen
    }
  }
  if (held !== '') throw new Error(`the stream ended inside an event: ${held}`)
}

export async function allEvents(hub: TestHub, path: string, options: ReadOptions = {}): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = []
  for await (const event of readEvents(hub, path, options)) seen.push(event)
  return seen
}

/** Resolves when the condition holds; for what tells nobody, such as a socket that closes. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 5))
}

function parseBlock(block: string): SeenEvent | null {
  const fields = new Map(
    block.split('\n').map(line => {
      const at = line.indexOf(': ')
      return [line.slice(0, at), line.slice(at + 2)]
    }),
  )
  const data = fields.get('data')
  if (data === undefined) return null
  return { event: fields.get('event') ?? 'message', id: fields.get('id') ?? null, data: JSON.parse(data) }
}
