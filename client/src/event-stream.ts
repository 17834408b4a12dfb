import { setTimeout as sleep } from 'node:timers/promises'
import { nextDelayMs } from '@stoker/net'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { Caller } from './caller.ts'
import { HubRefused, HubUnreachable, isHubAway } from './errors.ts'
import { PlaceTracker } from './place-tracker.ts'

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined
  readonly lastEventId?: string | undefined
  /** Told each time the connection is lost and will be tried again. */
  readonly onLost?: ((error: unknown) => void) | undefined
}

/** The hub pings every 15 s: three missing pings mean that the connection is dead. */
const SILENCE_MS = 45_000
const BACKOFF = { baseMs: 200, maxMs: 5_000 }

/**
 * Server-sent events without gap or repeat over any number of connections: each new one continues behind the last id.
 * It ends with the message `isLast` knows, or with the caller's abort; only a first connection that fails is an error.
 */
export async function* followStream(
  caller: Caller,
  path: string,
  isLast: (message: EventSourceMessage) => boolean,
  options: FollowOptions,
): AsyncGenerator<EventSourceMessage> {
  const { signal, onLost } = options
  let lastId = options.lastEventId
  let wasConnected = false
  for (let attempt = 0; ; attempt += 1) {
    try {
      const headers: Record<string, string> = lastId === undefined ? {} : { 'last-event-id': lastId }
      const call = { method: 'GET', path, repeatable: true, headers, silenceMs: SILENCE_MS, signal } as const
      const reply = await caller.open({ ...call, headers: { ...headers, accept: 'text/event-stream' } })
      wasConnected = true
      for await (const { arrived, place } of messages(reply.bytes)) {
        attempt = 0
        for (const message of arrived) {
          yield message
          if (isLast(message)) return
        }
        lastId = place ?? lastId
      }
      onLost?.(new HubUnreachable(caller.url, new Error('the stream closed before its end')))
    } catch (error) {
      signal?.throwIfAborted()
      const isKnown = error instanceof HubRefused || error instanceof HubUnreachable
      const lost = isKnown ? error : new HubUnreachable(caller.url, error)
      if (!isHubAway(lost) || !wasConnected) throw lost
      onLost?.(lost)
    }
    await sleep(nextDelayMs({ ...BACKOFF, attempt, random: Math.random }), undefined, { signal }).catch(() => {})
    signal?.throwIfAborted()
  }
}

interface Arrived {
  readonly arrived: readonly EventSourceMessage[]
  readonly place: string | undefined
}

async function* messages(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Arrived> {
  const ready: EventSourceMessage[] = []
  const parser = createParser({ onEvent: message => ready.push(message) })
  const places = new PlaceTracker()
  const decoder = new TextDecoder()
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true })
    parser.feed(text)
    yield { arrived: ready.splice(0), place: places.feed(text) }
  }
}
