import { connect, type Socket } from 'node:net'

const LONGEST_SOCKET_PATH_BYTES = 107
const CLOSE_MS = 10_000
/** The last one: whoever listened was killed with us in line. */
const NOBODY: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET'])

/** JSON lines over a unix socket, both ways. */
export interface LineChannel<Sent> {
  /** What is sent in one moment leaves in one write. */
  send(message: Sent): void
  /** Resolves when the other side has closed too, or has not for too long. */
  close(): Promise<void>
  /** For a side that does not answer. */
  drop(): void
}

/** The messages are our own keeper's, so they are trusted; `onClose` is called once, whoever closed. */
export interface LineListener<Received> {
  onMessage(message: Received): void
  onClose(): void
}

/** Null when nobody listens there, which is an ordinary state; other failures reject. */
export function openChannel<Sent, Received>(
  path: string,
  listener: LineListener<Received>,
): Promise<LineChannel<Sent> | null> {
  checkSocketPath(path)
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (NOBODY.has(error.code ?? '')) resolve(null)
      else reject(error)
    })
    socket.once('connect', () => resolve(attach(socket, listener)))
  })
}

/** The kernel cuts longer names off, which would make two folders share one socket. */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path)
  if (bytes <= LONGEST_SOCKET_PATH_BYTES) return
  throw new Error(
    `socket path ${path} has ${bytes} bytes, at most ${LONGEST_SOCKET_PATH_BYTES} fit: use a shorter folder`,
  )
}

function attach<Sent, Received>(socket: Socket, listener: LineListener<Received>): LineChannel<Sent> {
  let rest = ''
  let isGathering = false
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) listener.onMessage(JSON.parse(line))
  })
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  socket.on('error', () => socket.destroy())
  socket.on('end', () => socket.end())
  closed.then(() => listener.onClose())
  return {
    send(message) {
      if (!isGathering) {
        isGathering = true
        socket.cork()
        process.nextTick(() => {
          isGathering = false
          socket.uncork()
        })
      }
      socket.write(`${JSON.stringify(message)}\n`)
    },
    close() {
      socket.end()
      const late = setTimeout(() => socket.destroy(), CLOSE_MS)
      return closed.finally(() => clearTimeout(late))
    },
    drop: () => void socket.destroy(),
  }
}
