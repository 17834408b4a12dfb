import type { JobRow } from '@stoker/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import type { OutputPage, Streams } from '../outputs/port.ts'
import { BEGINNING, followJob } from './follow-job.ts'

const PAGES = 20
const PAGE_BYTES = 64 * 1024

/** An ended job with a long output that is all there at once. */
function aFlood() {
  const row = { seq: 1, id: 'j', state: 'succeeded', attempts: 1, attemptEpoch: 1, attemptState: 'ended' }
  const read: Streams['read'] = async (_fence, { stdout }): Promise<OutputPage> => ({
    pieces: [{ stream: 'stdout', offset: stdout, at: 1, bytes: Buffer.alloc(PAGE_BYTES, 'x') }],
    end: stdout + PAGE_BYTES >= PAGES * PAGE_BYTES,
  })
  const ports = {
    queries: { jobById: async () => row },
    streams: { read, watch: () => () => {} },
    watch: { add: () => () => {} },
  }
  return { row: row as unknown as JobRow, ports: ports as unknown as Parameters<typeof followJob>[0] }
}

afterEach(() => {
  vi.useRealTimers()
})

it('shows that it goes on while there is news that says nothing, such as progress that is none', async () => {
  vi.useFakeTimers()
  const row = { seq: 1, id: 'j', state: 'running', attempts: 1, attemptEpoch: 1, attemptState: 'running' }
  let progressed = () => {}
  const ports = {
    queries: { jobById: async () => row },
    watch: {
      add: (_seq: number, watcher: { progressed: () => void }) => {
        progressed = watcher.progressed
        return () => {}
      },
    },
  } as unknown as Parameters<typeof followJob>[0]
  const stop = new AbortController()
  const from = { attempt: 1, offsets: BEGINNING, hasOutput: false }
  const seen: string[] = []
  const following = (async () => {
    for await (const { kind } of followJob(ports, row as unknown as JobRow, from, stop.signal)) seen.push(kind)
  })()
  for (let beat = 0; beat < 6; beat += 1) {
    await vi.advanceTimersByTimeAsync(10_000)
    progressed()
  }
  await vi.advanceTimersByTimeAsync(1_500)
  stop.abort()
  await following
  expect(seen.filter(kind => kind === 'quiet')).toHaveLength(4)
  expect(seen.filter(kind => kind === 'progress')).toHaveLength(6)
})

it('lets everybody else have a turn between the pieces of a flood', async () => {
  const { row, ports } = aFlood()
  let turns = 0
  let isOver = false
  const others = () => {
    turns += 1
    if (!isOver) setImmediate(others)
  }
  setImmediate(others)
  let bytes = 0
  for await (const news of followJob(ports, row, { attempt: 1, offsets: BEGINNING }, new AbortController().signal)) {
    if (news.kind === 'output') for (const piece of news.pieces) bytes += piece.bytes.length
  }
  isOver = true
  expect(bytes).toBe(PAGES * PAGE_BYTES)
  expect(turns).toBeGreaterThanOrEqual(PAGES - 1)
})
