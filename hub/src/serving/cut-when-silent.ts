import type { IncomingMessage } from 'node:http'

/** A sender that says nothing for this long has gone. */
const STALL_MS = 60_000

/** Breaks a body off when its sender falls silent, until the returned function is called. */
export function cutWhenSilent(raw: IncomingMessage): () => void {
  const { socket } = raw
  const cut = () => raw.destroy(new Error(`nothing came for ${STALL_MS / 1000} s`))
  socket.setTimeout(STALL_MS, cut)
  return () => {
    socket.removeListener('timeout', cut)
    socket.setTimeout(0)
  }
}
