import { EventEmitter } from 'node:events'
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

/** A socket whose other end is the test. */
class TestSocket extends EventEmitter {
  readonly sent: unknown[] = []
  readonly closes: string[] = []
  send(text: string): void {
    this.sent.push(JSON.parse(text))
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
  const connection = new Connection(socket as unknown as WebSocket, 1, {
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
  return { socket, executed }
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

it('closes on bytes that are no message', () => {
  const { socket } = connected(async () => [])
  socket.emit('message', Buffer.from([0, 0, 0, 99, 1]), true)
  expect(socket.closes).toEqual(['not a message'])
})
