import { mkdtemp, open, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CommitLog, createCommitLog, type LogRecord, readCommitLog } from './commit-log.ts'

let folder: string
let path: string
let log: CommitLog
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-log-'))
  path = join(folder, 'log')
  log = await createCommitLog(path)
})
afterEach(async () => {
  log.close()
  await removeTree(folder)
})

const record = (number: number, text = `commit ${number} ünïcode`): LogRecord => ({ number, text })

function append(...numbers: readonly number[]): void {
  for (const number of numbers) expect(log.append(record(number))).toBe(true)
}

async function change(at: number, byte: number): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(Buffer.from([byte]), 0, 1, at)
  await file.close()
}

it('has nothing at first, and nothing when there is no file', () => {
  expect(readCommitLog(path, null)).toEqual([])
  expect(readCommitLog(join(folder, 'missing'), null)).toEqual([])
})

it('reads records in order, of both halves and of a part', () => {
  append(1, 2)
  const first = log.turn()
  append(3)
  const second = log.turn()
  append(4, 5)
  expect(readCommitLog(path, first)).toEqual([record(4), record(5)])
  expect(readCommitLog(path, second)).toEqual([record(3)])
  expect(readCommitLog(path, null)).toEqual([record(3), record(4), record(5)])
})

it('does not take an older record for the next one', () => {
  append(1, 2, 3)
  log.startOver()
  append(4)
  expect(readCommitLog(path, null)).toEqual([record(4)])
})

it('ends before a record that is not whole', async () => {
  append(1, 2, 3)
  const bytes = await readFile(path)
  await change(bytes.indexOf('commit 3'), 0x58)
  expect(readCommitLog(path, null)).toEqual([record(1), record(2)])
})

it('says when a half is full, writes nothing then, and goes on in the other', () => {
  const large = 'x'.repeat(600_000)
  expect(log.append(record(1, large))).toBe(true)
  expect(log.append(record(2, large))).toBe(false)
  append(2)
  expect(log.append(record(3, 'x'.repeat(2 ** 20)))).toBe(false)
  log.turn()
  expect(log.append(record(3, large))).toBe(true)
  expect(readCommitLog(path, null).map(({ number }) => number)).toEqual([1, 2, 3])
})
