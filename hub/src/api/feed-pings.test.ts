import { afterEach, expect, test, vi } from 'vitest'
import type { JournalRow } from '../store/port.ts'
import { feed } from './feed.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('a feed shows that it goes on while nothing happens that its reader may see', async () => {
  vi.useFakeTimers()
  const body = JSON.stringify({ changes: [{ c: 'submitted', owner: 'ben', jobs: [] }] })
  const journal: JournalRow[] = []
  let committed = () => {}
  const context = {
    engine: {
      onCommit: (tell: () => void) => {
        committed = tell
        return () => {}
      },
    },
    queries: { journalAfter: async (n: number) => journal.slice(n) },
    names: { resolve: async () => new Map() },
  } as unknown as Parameters<typeof feed>[0]
  const caller = { owner: 'ann', role: 'submit' } as Parameters<typeof feed>[1]
  const leave = new AbortController()
  const seen: string[] = []
  const reading = (async () => {
    for await (const text of feed(context, caller, 0, leave.signal)) seen.push(text)
  })()
  for (let n = 1; n <= 6; n += 1) {
    await vi.advanceTimersByTimeAsync(10_000)
    journal.push({ n, at: n, hash: '', body })
    committed()
  }
  await vi.advanceTimersByTimeAsync(1_000)
  leave.abort()
  await reading
  expect(seen.map(text => /id: (\d+)/.exec(text)?.[1])).toEqual(['1', '2', '4', '5'])
})
