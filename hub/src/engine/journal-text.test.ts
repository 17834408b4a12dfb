import { Change } from '@stoker/protocol'
import { expect, test } from 'vitest'
import { changeText, journalBody } from './journal-text.ts'

const fence = { job: 7, epoch: 1_800_000_000, attempt: 2 }
const at = 1_800_000_000_000.25
const ended = { c: 'attemptEnded', ...fence, outcome: 'failed', at, startedAt: null, exitCode: null } as const
const most = { signal: 'SIGKILL', error: 'a "quoted"\n line', note: '\u2028 ü', usage: null, result: { by: [1, null] } }

const CHANGES: readonly Change[] = [
  { c: 'batch', worker: 'worker-1', n: 3 },
  { c: 'batch', worker: 'a "worker" \\ \n ü \u007f \ud800', n: 2 ** 40 },
  { c: 'placed', ...fence, worker: 'w', gpus: [], at },
  { c: 'placed', ...fence, worker: 'w', gpus: ['GPU-1', 'GPU-"2"'], at, session: 4 },
  { c: 'running', job: 7, at, isolation: null },
  { c: 'running', job: 7, at, isolation: 'inline', containerId: 'c"1' },
  { ...ended, next: 'queued', failures: 1, lost: 0 },
  { ...ended, startedAt: 1, exitCode: -1, next: 'waiting', failures: 1, lost: 0, signal: undefined, dueAt: null },
  { ...ended, next: 'failed', failures: 1, lost: 0, ...most, dueAt: 1, reason: 'r', artifacts: { count: 1, bytes: 2 } },
  { ...ended, outcome: 'completed', next: 'succeeded', failures: 0, lost: 0, result: 'text' },
  { c: 'starting', job: 7, at },
]

test('a change is written as JSON.stringify writes it', () => {
  for (const change of CHANGES) expect(changeText(change)).toBe(JSON.stringify(change))
})

test('a row is written as JSON.stringify writes it', () => {
  for (const count of [0, 1, CHANGES.length]) {
    const changes = CHANGES.slice(0, count)
    expect(journalBody(7, changes.map(changeText))).toBe(JSON.stringify({ v: 1, epoch: 7, changes }))
  }
})

test('every member that a written-out change may have is among the examples', () => {
  for (const { shape } of Change.options) {
    const kind = shape.c.value
    if (kind !== 'attemptEnded' && kind !== 'batch' && kind !== 'placed' && kind !== 'running') continue
    const seen = new Set(CHANGES.filter(({ c }) => c === kind).flatMap(change => Object.keys(change)))
    expect(seen).toEqual(new Set(Object.keys(shape)))
  }
})
