import { type Change, type ChangeOf, JOURNAL_VERSION, type Shape } from '@stoker/protocol'
import { describe, expect, it } from 'vitest'
import { chainHash } from '../engine/core.ts'
import type { JournalRow } from '../store/port.ts'
import { createChecker } from './checker.ts'

const SHAPE: Shape = {
  executor: 'process',
  gpus: 1,
  gpuMemoryMb: 0,
  gpuModel: null,
  gpuSharing: 'exclusive',
  cpusMilli: 1000,
  memoryMb: 0,
  worker: null,
  exclude: [],
  avoidTags: [],
  preferTags: [],
  python: false,
  tags: [],
  isolation: 'auto',
  network: null,
  image: null,
  pull: 'missing',
  mounts: [],
  target: null,
}
const TERMS = {
  timeoutMs: null,
  lostAfterMs: null,
  retryMax: 0,
  retryOn: [],
  retryInitialMs: 1,
  retryMaxMs: 1,
  session: null,
}
const HARDWARE = {
  cpuModel: '',
  cores: 4,
  memoryBytes: 1,
  disk: { freeBytes: 1, totalBytes: 1 },
  hostname: '',
  os: '',
  arch: '',
  pythons: [],
  gpus: [{ index: 0, uuid: 'gpu-0', name: '', memoryMb: 1, driver: null, simulated: true }],
  gpuNote: null,
}
const ABILITIES = { executors: [], sandbox: true, unsandboxed: true, internet: true, hostNetwork: true, note: null }

const aWorker = (id: string, maxJobs = 2): Change => ({
  ...{
    c: 'worker',
    id,
    name: id,
    version: '',
    owner: 'ann',
    tags: [],
    maxJobs,
    window: 2,
    cpusMilli: 4000,
    memoryMb: 1,
  },
  ...{ hardware: HARDWARE, abilities: ABILITIES, secretHash: '', bootId: '', at: 0 },
})
const submitted = (...seqs: number[]): Change => ({
  ...{ c: 'submitted', owner: 'ann', at: 0, key: null },
  jobs: seqs.map(seq => ({ seq, id: `${seq}`, bucket: 1, name: '', type: 'command' })),
})
const placed = (job: number, attempt = 1, gpus = ['gpu-0']): Change => ({
  ...{ c: 'placed', job, epoch: 1, attempt, worker: 'w', gpus, at: 0 },
})
const ended = (job: number, attempt: number, rest: Partial<ChangeOf<'attemptEnded'>> = {}): Change => ({
  ...{
    c: 'attemptEnded',
    job,
    epoch: 1,
    attempt,
    outcome: 'completed',
    at: 0,
    startedAt: 0,
    exitCode: 0,
    signal: null,
  },
  ...{ error: null, note: null, usage: null, result: { answer: 42 }, next: 'succeeded', dueAt: null },
  ...{ failures: 0, lost: 0, reason: null },
  ...rest,
})
const lost = (job: number, attempt: number): Change => ({
  ...{ c: 'lost', job, epoch: 1, attempt, at: 0, lost: 1, reason: 'silent' },
})
const fenced = (c: 'resumed' | 'released', job: number, attempt: number): Change =>
  c === 'resumed' ? { c, job, epoch: 1, attempt, at: 0 } : { c, job, epoch: 1, attempt, worker: 'w', at: 0 }

const HOUSE: readonly Change[] = [
  { c: 'epoch', epoch: 1, at: 0 },
  aWorker('w'),
  { c: 'bucket', id: 1, owner: 'ann', priority: 0, shape: SHAPE, terms: TERMS },
]

function rowsOf(...commits: (readonly Change[])[]): JournalRow[] {
  let hash = ''
  return commits.map((changes, index) => {
    const body = JSON.stringify({ v: JOURNAL_VERSION, epoch: 1, changes })
    hash = chainHash(hash, index + 1, body)
    return { n: index + 1, at: 0, hash, body }
  })
}

function problemsOf(...changes: Change[]): string[] {
  const checker = createChecker()
  for (const row of rowsOf(HOUSE, ...changes.map(change => [change]))) checker.commit(row)
  return checker.problems.map(({ guarantee, text }) => `${guarantee}: ${text}`)
}

describe('the checker', () => {
  it('finds nothing in a life that follows the rules', () => {
    const life = [submitted(1), placed(1), lost(1, 1), fenced('resumed', 1, 1), ended(1, 1)]
    expect(problemsOf(...life)).toEqual([])
  })

  it('finds a second end of a job', () => {
    expect(problemsOf(submitted(1), placed(1), ended(1, 1), ended(1, 1))[0]).toMatch(
      /^a: commit 5: job 1 has ended as succeeded, but a later change/,
    )
  })

  it('finds a result of an attempt whose place was taken', () => {
    const life = [submitted(1), placed(1), lost(1, 1), fenced('released', 1, 1), placed(1, 2), ended(1, 1)]
    expect(problemsOf(...life)).toContainEqual(
      expect.stringMatching(/^b: commit 7: attempt 1 of job 1 .* is told completed/),
    )
  })

  it('finds an attempt resumed after a newer placement', () => {
    const life = [submitted(1), placed(1, 1, ['gpu-0']), lost(1, 1), placed(1, 2, ['gpu-0']), fenced('resumed', 1, 1)]
    expect(problemsOf(...life)).toContainEqual(
      expect.stringMatching(/^b: .*attempt 1 of job 1 .* was resumed after attempt 2/),
    )
  })

  it('counts the claim of a lost attempt until it is released', () => {
    const taken = [submitted(1, 2), placed(1), lost(1, 1)]
    expect(problemsOf(...taken, placed(2))).toEqual([
      expect.stringMatching(/^d: .*GPU gpu-0, which attempt 1 of job 1/),
    ])
    expect(problemsOf(...taken, fenced('released', 1, 1), placed(2))).toEqual([])
  })

  it('finds more attempts than slots, a device the worker lacks, and a draining worker', () => {
    expect(problemsOf(aWorker('w', 0), submitted(1), placed(1))[0]).toMatch(/1 attempts and 0 slots/)
    expect(problemsOf(submitted(1), placed(1, 1, ['gpu-9']))[0]).toMatch(/gpu-9, which that worker does not have/)
    expect(problemsOf(submitted(1), { c: 'workerDrained', id: 'w', on: true, at: 0 }, placed(1))[0]).toMatch(/draining/)
  })

  it('finds a job placed before what it waits for, and a dependency that did not end as asked', () => {
    const needs = (on: 'success' | 'end'): Change => ({
      ...{ c: 'submitted', owner: 'ann', at: 0, key: null },
      jobs: [{ seq: 2, id: '2', bucket: 1, name: '', type: 'command', dependsOn: [{ seq: 1, id: '1', on }] }],
    })
    const met: Change = { c: 'met', job: 2, dependency: 1, at: 0 }
    const failed = ended(1, 1, { outcome: 'failed', next: 'failed', result: null })
    expect(problemsOf(submitted(1), needs('success'), placed(2))[0]).toMatch(
      /^a: .*job 2 was placed, but it waits for the success of job 1/,
    )
    expect(problemsOf(submitted(1), needs('success'), placed(1), failed, met)).toEqual([
      expect.stringMatching(/^a: .*job 2 needs the success of job 1, which counts as met while it is failed/),
    ])
    expect(problemsOf(submitted(1), needs('end'), met)[0]).toMatch(/counts as met while it is queued/)
    expect(problemsOf(submitted(1), needs('end'), placed(1), failed, met, placed(2))).toEqual([])
  })

  it('finds a held job that is placed, and a hold that nobody held', () => {
    const held: Change = { c: 'held', job: 1, by: 'ann', at: 0 }
    const lifted: Change = { c: 'holdLifted', job: 1, by: 'ann', at: 0 }
    expect(problemsOf(submitted(1), held, placed(1))[0]).toMatch(/^a: .*job 1 was placed, but it is held/)
    expect(problemsOf(submitted(1), lifted)[0]).toMatch(/the hold of job 1 was lifted, but nobody held it/)
    expect(problemsOf(submitted(1), held, held, lifted, placed(1))).toEqual([])
  })

  it('finds a changed byte, a missing row, and a batch taken twice', () => {
    const rows = rowsOf(HOUSE, [submitted(1)], [placed(1)])
    const changed = createChecker()
    for (const row of rows) changed.commit(row.n === 2 ? { ...row, body: row.body.replace('ann', 'eve') } : row)
    expect(changed.problems[0]?.text).toMatch(/row 2 has the hash/)
    const torn = createChecker()
    for (const row of rows) if (row.n !== 2) torn.commit(row)
    expect(torn.problems[0]?.text).toMatch(/row 3 follows row 1/)
    const batch: Change = { c: 'batch', worker: 'w', n: 1 }
    expect(problemsOf(batch, batch)[0]).toMatch(/batch 1 of worker w was taken after batch 1/)
  })

  it('believes what began before a pruned journal does', () => {
    const rows = rowsOf(HOUSE, [submitted(1)], [placed(1)], [ended(1, 1)], [ended(1, 1)])
    const checker = createChecker({ n: 3, hash: rows[2]?.hash ?? '' })
    for (const row of rows.slice(3, 4)) checker.commit(row)
    expect(checker.problems).toEqual([])
    for (const row of rows.slice(4)) checker.commit(row)
    expect(checker.problems[0]?.text).toMatch(/job 1 has ended/)
  })
})
