import { EventEmitter } from 'node:events'
import { Duplex } from 'node:stream'
import { encodeFrame, type RowWrite } from '@stoker/protocol'
import { expect, it, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { LiveBoard } from '../../engine/live-board.ts'
import type { EngineLoop } from '../../engine/loop.ts'
import { aHello } from '../../engine/test-house.ts'
import type { Blobs } from '../../outputs/artifacts/port.ts'
import { type OutputChunk, StreamGap, type Streams } from '../../outputs/port.ts'
import { Connection } from './connection.ts'

const SOON = { timeout: 15_000 }

const fence = { job: 1, epoch: 1, attempt: 1 }
const ROW: RowWrite = { op: 'delete', table: 'meta', key: { key: 'x' } }

/** A socket whose other end is the test; `writes` is how many messages each write carried. */
class TestSocket extends EventEmitter {
  readonly sent: unknown[] = []
  readonly closes: string[] = []
  readonly writes: number[] = []
  readonly wire = new Duplex({
    read: () => {},
    write: (_chunk, _encoding, done) => {
      this.writes.push(1)
      done()
    },
    writev: (chunks, done) => {
      this.writes.push(chunks.length)
      done()
    },
  })
  send(text: string): void {
    this.sent.push(JSON.parse(text))
    this.wire.write(text)
  }
  close(_code: number, why: string): void {
    this.closes.push(why)
  }
}

function connected(append: (chunks: readonly OutputChunk[]) => Promise<readonly RowWrite[]>) {
  const socket = new TestSocket()
  const executed: { readonly n: number; readonly rows: readonly RowWrite[] }[] = []
  const engine = {
    touch: () => {},
    execute: async (command: { readonly n: number; readonly rows: readonly RowWrite[] }) => {
      executed.push(command)
      return { ackedBatch: command.n, stale: [] }
    },
  }
  const connection = new Connection(socket as unknown as WebSocket, socket.wire, 1, {
    engine: engine as unknown as EngineLoop,
    streams: { append, committed: () => {} } as unknown as Streams,
    blobs: {} as unknown as Blobs,
    board: new LiveBoard(),
    version: '0',
    now: () => 0,
    log: () => {},
    admit: () => {},
    leave: () => {},
    closed: () => {},
  })
  socket.emit('message', Buffer.from(JSON.stringify(aHello('w'))), false)
  connection.step({ e: 'admitted', ackedBatch: 0, stale: [], draining: false, epoch: 1 })
  return { socket, executed, connection }
}

function aReport(): Buffer {
  const chunks = (['stdout', 'stderr'] as const).map(stream => ({ fence, stream, offset: 5, length: 2, at: 0 }))
  return Buffer.from(encodeFrame(JSON.stringify({ t: 'report', n: 1, reports: [], chunks }), [new Uint8Array(4)]))
}

it('goes on without a stream that has a hole only a restored hub can have', async () => {
  const { socket, executed } = connected(async chunks => {
    const first = chunks.find(chunk => chunk.stream === 'stdout')
    if (first !== undefined) throw new StreamGap(first, 0)
    return chunks.map(() => ROW)
  })
  socket.emit('message', aReport(), true)
  await vi.waitFor(() => expect(socket.sent.at(-1)).toEqual({ t: 'ack', n: 1 }), SOON)
  expect(executed).toMatchObject([{ n: 1, rows: [ROW] }])
  expect(socket.closes).toEqual([])
})

it('acknowledges nothing and closes when output cannot be stored', async () => {
  const { socket, executed } = connected(async () => {
    throw new Error('the disk is full: the output was not written')
  })
  socket.emit('message', aReport(), true)
  await vi.waitFor(() => expect(socket.closes).toEqual(['the disk is full: the output was not written']), SOON)
  expect(executed).toEqual([])
  expect(socket.sent).not.toContainEqual({ t: 'ack', n: 1 })
})

it('sends in one write what it has to say at one moment', async () => {
  const { socket, connection } = connected(async () => [])
  connection.step({ e: 'reported', ackedBatch: 1, stale: [] })
  await Promise.resolve()
  connection.step({ e: 'drain', on: true })
  expect(socket.writes).toEqual([])
  await vi.waitFor(() => expect(socket.writes).toEqual([3]), SOON)
  connection.step({ e: 'drain', on: false })
  await vi.waitFor(() => expect(socket.writes).toEqual([3, 1]), SOON)
})

it('sends what it gathered when it is told to, and only once', async () => {
  const { socket, connection } = connected(async () => [])
  connection.step({ e: 'drain', on: true })
  connection.flush()
  expect(socket.writes).toEqual([2])
  connection.flush()
  connection.step({ e: 'drain', on: false })
  expect(socket.writes).toEqual([2])
  await vi.waitFor(() => expect(socket.writes).toEqual([2, 1]), SOON)
})

it('closes on bytes that are no message', () => {
  const { socket } = connected(async () => [])
  socket.emit('message', Buffer.from([0, 0, 0, 99, 1]), true)
  expect(socket.closes).toEqual(['not a message'])
})
