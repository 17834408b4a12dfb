export const EVENT_STREAM = 'text/event-stream; charset=utf-8'

/** Keeps proxies and followers sure that the connection lives. */
export const PING_MS = 15_000

/** One server-sent event; the data is JSON on one line. Without an id the follower keeps the last one. */
export function eventText(event: string, data: string, id?: string | undefined): string {
  return id === undefined ? `event: ${event}\ndata: ${data}\n\n` : `event: ${event}\nid: ${id}\ndata: ${data}\n\n`
}

/** A comment, with the place up to which there was nothing to say. */
export function pingText(id?: string | undefined): string {
  return id === undefined ? ': ping\n\n' : `: ping\nid: ${id}\n\n`
}
