import { beforeEach, describe, expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from './test-house.ts'

let house: TestHouse
beforeEach(() => {
  house = new TestHouse()
})

describe('a checkpoint', () => {
  const checkpoint = (letter: string, step: number) => ({
    step,
    kind: 'file' as const,
    files: [{ path: 'a.pt', sha256: letter.repeat(64), size: 1 }],
  })
  const told = (job: number, letter: string, step: number) => ({
    ...{ kind: 'checkpoint' as const, fence: house.fenceOf(job), at: 1, checkpoint: checkpoint(letter, step) },
  })
  const rowsOf = () => house.journal.at(-1)?.commit.rows.filter(({ table }) => table === 'artifact')

  it('takes the place of the one before, under the name of its attempt', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ command: 'x' }))
    house.report('w', house.running(house.fenceOf(job)), told(job, 'a', 1), told(job, 'b', 2))
    expect(house.lastChanges.map(({ c }) => c)).toEqual(['running', 'checkpointed', 'checkpointed', 'batch'])
    expect(rowsOf()).toMatchObject([
      { op: 'delete', key: { job, attempt: 0 } },
      { op: 'put', row: { path: '1/1/file/a.pt', owner: 'ann' } },
      { op: 'delete', key: { job, attempt: 0 } },
      { op: 'put', row: { path: '1/2/file/a.pt', sha256: 'b'.repeat(64), size: 1 } },
    ])
  })

  it('goes with the success of its job, and stays for one that failed', () => {
    house.join(aHello('w'))
    const [won, lost] = [house.submit(aJob({ command: 'x' })), house.submit(aJob({ command: 'y' }))]
    for (const job of [won, lost]) house.report('w', house.running(house.fenceOf(job)), told(job, 'a', 1))
    house.report('w', house.ended(house.fenceOf(lost), 'failed'))
    expect(rowsOf()).toEqual([])
    house.report('w', house.ended(house.fenceOf(won), 'completed'))
    expect(rowsOf()).toEqual([{ op: 'delete', table: 'artifact', key: { job: won, attempt: 0 } }])
  })

  it('whose content did not come is passed over', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ command: 'x' }))
    house.run({
      kind: 'report',
      worker: 'w',
      n: 1,
      reports: [told(job, 'a', 1)],
      rows: [],
      missing: new Set(['a'.repeat(64)]),
    })
    expect(house.lastChanges.map(({ c }) => c)).toEqual(['batch'])
  })
})
