import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AttemptReport } from '@stoker/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SpoolFile } from './spool-file.ts'

const CREDIT = 1_000_000
const fence = { job: 1, epoch: 9, attempt: 1 }
const running: AttemptReport = { kind: 'running', fence, at: 1, isolation: 'none' }

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stoker-spool-'))
  path = join(folder, 'spool.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** As after a crash of the worker: nothing is closed in order. */
function reopened(): SpoolFile {
  return new SpoolFile(path)
}

describe('the spool file', () => {
  it('brings back what was recorded and not acknowledged, under the same numbers', () => {
    const file = new SpoolFile(path)
    file.spool.report(running)
    file.spool.outputGrew(fence, { stdout: 100, stderr: 0 })
    const batch = file.spool.next(0, CREDIT)
    if (batch !== null) file.record(JSON.stringify(batch))
    file.sawEpoch(9)
    const again = reopened()
    expect(again.spool.unacked).toEqual([batch])
    expect(again.epochSeen).toBe(9)
    again.spool.outputGrew(fence, { stdout: 130, stderr: 0 })
    expect(again.spool.next(0, CREDIT)).toMatchObject({ n: 2, chunks: [{ offset: 100, length: 30 }] })
  })

  it('forgets what was acknowledged, but not how far output was taken', () => {
    const file = new SpoolFile(path)
    file.spool.outputGrew(fence, { stdout: 100, stderr: 0 })
    const batch = file.spool.next(0, CREDIT)
    if (batch !== null) file.record(JSON.stringify(batch))
    file.spool.ack(1)
    file.acked(1, 9)
    for (let restart = 0; restart < 3; restart += 1) {
      const again = reopened()
      expect(again.spool.unacked).toEqual([])
      again.spool.outputGrew(fence, { stdout: 100, stderr: 0 })
      expect(again.spool.next(0, CREDIT)).toBeNull()
      again.close()
    }
  })

  it('ignores a line cut off by the death of the worker, and goes on behind it', () => {
    const file = new SpoolFile(path)
    file.spool.report(running)
    const batch = file.spool.next(0, CREDIT)
    if (batch !== null) file.record(JSON.stringify(batch))
    appendFileSync(path, '{"batch":{"n":2,"repo')
    const again = reopened()
    expect(again.spool.unacked.map(b => b.n)).toEqual([1])
    again.sawEpoch(10)
    expect(reopened().epochSeen).toBe(10)
  })

  it('stays small however much was acknowledged', () => {
    const file = new SpoolFile(path)
    for (let job = 1; job <= 30_000; job += 1) {
      file.spool.report({ ...running, kind: 'declined', reason: 'x'.repeat(200), fence: { ...fence, job } })
      const batch = file.spool.next(0, CREDIT)
      if (batch === null) throw new Error('nothing to send')
      file.record(JSON.stringify(batch))
      file.spool.ack(batch.n)
      file.acked(batch.n, 9)
    }
    expect(readFileSync(path).length).toBeLessThan(5_000_000)
    expect(reopened().spool.nextNumber).toBe(30_001)
  })

  it('knows whose end is recorded already', () => {
    const file = new SpoolFile(path)
    file.spool.report({ ...running, kind: 'declined', reason: 'full' })
    const batch = file.spool.next(0, CREDIT)
    if (batch !== null) file.record(JSON.stringify(batch))
    expect(reopened().endsTold).toEqual(new Set(['1-9-1']))
  })
})
