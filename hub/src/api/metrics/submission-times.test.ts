import { expect, it } from 'vitest'
import { SubmissionTimes } from './submission-times.ts'

it('knows when a job was submitted, and nothing of jobs before its own time', () => {
  const times = new SubmissionTimes()
  expect(times.at(5)).toBeNull()
  times.mark(10, 1000)
  times.mark(13, 2000)
  expect([9, 10, 12, 13, 99].map(seq => times.at(seq))).toEqual([null, 1000, 1000, 2000, 2000])
})

it('stays small, exact for recent jobs and near for old ones', () => {
  const times = new SubmissionTimes()
  for (let seq = 1; seq <= 100_000; seq++) times.mark(seq, seq * 10)
  for (const seq of [99_999, 99_000]) expect(times.at(seq)).toBe(seq * 10)
  expect(Math.abs((times.at(50_000) ?? 0) - 500_000)).toBeLessThan(1_000)
})
