import type { ChunkRow, RowWrite } from '@stoker/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { NO_FACTS } from '../engine/commands.ts'
import { Core } from '../engine/core.ts'
import { emptyState } from '../engine/state.ts'
import { aHello, aJob } from '../engine/test-house.ts'
import { packed } from '../scheduler/packed.ts'
import { schedulingRules } from '../scheduler/rules.ts'
import { createMemoryStore } from '../store/memory/store.ts'
import { createMemoryTables, type MemoryTables } from '../store/memory/tables.ts'
import { verifyData } from './verify-data.ts'

const NOW = { wall: 1_800_000_000_000, lease: 0 }
const FENCE = { job: 1, epoch: 1, attempt: 1 }
let tables: MemoryTables

const chunk = (offset: number, length: number): RowWrite => {
  const row: ChunkRow = { ...FENCE, stream: 0, offset, length, segment: 1, position: 0, at: 0, line: 0 }
  return { op: 'put', table: 'chunk', row }
}

/** A small history: a worker joined, a job ran there, failed and waits; another is queued. */
beforeEach(() => {
  tables = createMemoryTables()
  const core = new Core(emptyState(), packed, schedulingRules)
  const commit = () => {
    const batch = core.finish(NOW)
    if (batch !== null) tables.applyCommit(batch.commit)
  }
  core.record({ c: 'epoch', epoch: 1, at: NOW.wall })
  const token = { id: 't', hash: 'join-hash', role: 'join', owner: 'ann', label: '', expiresAt: null } as const
  core.execute({ kind: 'addToken', ...token }, NO_FACTS, NOW)
  commit()
  core.execute({ kind: 'hello', hello: aHello('w'), secretHash: 's', joinHash: 'join-hash' }, NO_FACTS, NOW)
  const worker = core.state.workers.get('w')
  if (worker !== undefined) Object.assign(worker, { connected: true, heardAt: NOW.lease })
  core.execute(
    { kind: 'submit', owner: 'ann', jobs: [aJob({ retries: 3 })], key: null, failFast: false },
    NO_FACTS,
    NOW,
  )
  commit()
  core.execute({ kind: 'report', worker: 'w', n: 1, reports: [], rows: [chunk(0, 5), chunk(5, 7)] }, NO_FACTS, NOW)
  commit()
})

const verify = () => verifyData({ store: createMemoryStore(tables) })
const write = (row: RowWrite) => tables.applyCommit({ journal: null, rows: [row] })

describe('verifying a store', () => {
  it('finds nothing where nothing is wrong, and says how much it saw', async () => {
    expect(await verify()).toMatchObject({ problems: [], notes: [], commits: 3, jobs: 1, chunks: 2 })
  })

  it('finds a row that no change wrote', async () => {
    write({ op: 'update', table: 'job', key: { seq: 1 }, set: { failures: 2 } })
    expect((await verify()).problems[0]?.text).toMatch(/two states: active.1.failures is 0 in one and 2 in the other/)
  })

  it('finds a group whose counts are not those of its members', async () => {
    const row = {
      id: 'g',
      owner: 'ann',
      name: '',
      firstSeq: 1,
      size: 1,
      maxParallel: null,
      retryOf: null,
      submittedAt: 1,
    }
    const counts = { waiting: 0, queued: 0, active: 0, succeeded: 1, failed: 0, canceled: 0, timed_out: 0 }
    write({ op: 'insert', table: 'jobGroup', row: { ...row, ...counts, endedAt: 5 } })
    write({ op: 'update', table: 'job', key: { seq: 1 }, set: { groupId: 'g' } })
    const texts = (await verify()).problems.map(problem => problem.text)
    expect(texts).toContain('1 jobs of group g are active, its row says 0')
    expect(texts).toContain('0 jobs of group g are succeeded, its row says 1')
  })

  it('finds a counter that does not count', async () => {
    write({ op: 'put', table: 'counter', row: { owner: 'ann', state: 'active', n: 7 } })
    expect((await verify()).problems.map(p => p.text)).toContainEqual('1 jobs of ann are active, the counter says 7')
  })

  it('finds a hole in a stream', async () => {
    write(chunk(20, 1))
    expect((await verify()).problems[0]?.text).toMatch(/stdout of attempt 1 of job 1 .* up to byte 12, .* at byte 20/)
  })

  it('finds an artifact without its content', async () => {
    const row = { job: 1, attempt: 1, path: 'out', owner: 'ann', sha256: 'a', size: 3, executable: 0 }
    write({ op: 'insert', table: 'artifact', row })
    expect((await verify()).problems.map(p => p.text)).toEqual([
      'attempt 1 of job 1 left "out" with 3 bytes, its content is not there',
    ])
    write({ op: 'insert', table: 'blob', row: { owner: 'ann', sha256: 'a', size: 3, at: 1, usedAt: 1 } })
    expect((await verify()).problems).toEqual([])
  })

  it('finds an end without a time', async () => {
    write({ op: 'update', table: 'job', key: { seq: 1 }, set: { state: 'failed' } })
    expect((await verify()).problems.map(p => p.text)).toContainEqual('job 1 is failed, but it has no end')
  })

  it('says what a pruned journal hides, and still checks the rest', async () => {
    tables.prune({ keysBefore: 0, journalBefore: NOW.wall + 1 })
    const report = await verify()
    expect(report.notes).toEqual([expect.stringMatching(/the journal up to commit 3 was pruned/)])
    expect(report.problems).toEqual([])
  })
})
