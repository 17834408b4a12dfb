import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream'

/** Enough for one write to be worth its call. */
const LIST_BYTES = 512 * 1024
/**
 * Node gives a body in buffers that only a collection frees, and V8 counts them as if they would stay: a few megabytes of them
 * and it marks the whole heap, again and again while content comes in. Where the hub may ask for it, the cheap kind of
 * collection (a third of a millisecond) is done before.
 */
const COLLECT_BYTES = 2 * 1024 * 1024

/** A body in lists of what came; while one is in use the next is gathered, and no more than that. Not read before it is asked for; what broke it off is thrown behind the last list. */
export async function* gatherBody(raw: IncomingMessage): AsyncGenerator<readonly Uint8Array[], void> {
  let chunks: Uint8Array[] = []
  let [bytes, uncollected] = [0, 0]
  const body: { isOver: boolean; failure: unknown } = { isOver: false, failure: null }
  let wake = () => {}
  const onData = (chunk: Uint8Array) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes < LIST_BYTES) return
    raw.pause()
    wake()
  }
  const unwatch = finished(raw, { writable: false }, failure => {
    Object.assign(body, { isOver: true, failure: failure ?? null })
    wake()
  })
  raw.on('data', onData)
  try {
    while (!body.isOver || bytes > 0) {
      if (!body.isOver && bytes < LIST_BYTES) await new Promise<void>(resolve => (wake = resolve))
      const list = chunks
      uncollected += bytes
      ;[chunks, bytes] = [[], 0]
      if (!body.isOver) raw.resume()
      if (list.length > 0) yield list
      if (uncollected < COLLECT_BYTES) continue
      uncollected = 0
      globalThis.gc?.({ type: 'minor' })
    }
    if (body.failure !== null) throw body.failure
  } finally {
    raw.off('data', onData)
    unwatch()
  }
}
