import { expect, it } from 'vitest'
import type { EncodedCommit } from './encode.ts'
import { handOver, takeOver } from './hand-over.ts'

const rest: Omit<EncodedCommit, 'journal'> = {
  queued: [{ owner: 'ada', submittedAt: 7, cells: [1, 'id "1"', 2, 'name', 'noop', 0, '{"type":"noop"}'] }],
  tables: [{ shapes: [], runs: [], cells: ['ü', 1, null] }],
  isTyped: false,
}

it('comes over as it was, with the body of its journal beside it', () => {
  const journal = { n: 1, at: 2, hash: 'h', body: '{"changes":["größer \\u2713"]}' }
  const [text, body] = handOver({ journal, ...rest })
  expect(body).toBe(journal.body)
  expect(text).not.toContain('changes')
  expect(takeOver(text, body)).toEqual({ journal, ...rest })
})

it('comes over without a journal', () => {
  expect(takeOver(...handOver({ journal: null, ...rest }))).toEqual({ journal: null, ...rest })
})
