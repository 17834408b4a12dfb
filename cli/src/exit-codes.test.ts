import { expect, test } from 'vitest'
import { exitCodeOfProblem, exitCodeOfRun, exitCodeOfState } from './exit-codes.ts'

test.each([
  [{ state: 'succeeded', exitCode: 0, signal: null }, 0],
  [{ state: 'failed', exitCode: 7, signal: null }, 7],
  [{ state: 'failed', exitCode: null, signal: 'SIGKILL' }, 137],
  [{ state: 'failed', exitCode: null, signal: 'SIGSEGV' }, 139],
  [{ state: 'failed', exitCode: 0, signal: null }, 100],
  [{ state: 'failed', exitCode: null, signal: null }, 100],
  [{ state: 'canceled', exitCode: null, signal: 'SIGTERM' }, 103],
  [{ state: 'timed_out', exitCode: null, signal: 'SIGKILL' }, 124],
] as const)('run of a job that ended as %o exits with %i', (job, code) => {
  expect(exitCodeOfRun(job)).toBe(code)
})

test('wait tells the terminal states apart', () => {
  expect((['succeeded', 'failed', 'canceled', 'timed_out'] as const).map(exitCodeOfState)).toEqual([0, 100, 103, 124])
})

test.each([
  [{ status: 404, code: 'job.not_found' }, 3],
  [{ status: 401, code: 'auth.missing' }, 4],
  [{ status: 403, code: 'auth.forbidden' }, 4],
  [{ status: 422, code: 'job.unschedulable' }, 6],
  [{ status: 400, code: 'spec.invalid' }, 2],
  [{ status: 400, code: 'request.invalid' }, 2],
  [{ status: 507, code: 'disk.full' }, 1],
])('the problem %o exits with %i', (problem, code) => {
  expect(exitCodeOfProblem(problem)).toBe(code)
})
