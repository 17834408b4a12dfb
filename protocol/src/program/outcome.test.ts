import { expect, it } from 'vitest'
import { outcomeOf, type ProgramEnd } from './outcome.ts'

const end = (facts: Partial<ProgramEnd>): ProgramEnd => ({
  finish: null,
  exitCode: 0,
  signal: null,
  oomLimitText: null,
  deadlinePassed: false,
  canceledBy: null,
  lastStderr: [],
  ...facts,
})
const completed = { status: 'completed', message: null, error: null }
const failed = { status: 'failed', message: 'm', error: 'boom' }

it.each([
  ['completed, 0', { finish: completed }, 'completed', null],
  ['failed, 0', { finish: failed }, 'failed', 'boom'],
  ['failed without error text', { finish: { ...failed, error: null } }, 'failed', 'm'],
  ['none, 0', {}, 'completed', null],
  ['completed, 3', { finish: completed, exitCode: 3 }, 'failed', 'exited with code 3 after finish'],
  ['none, 2 with stderr', { exitCode: 2, lastStderr: ['a', 'b'] }, 'failed', 'exited with code 2\na\nb'],
  ['killed', { exitCode: null, signal: 'SIGSEGV' }, 'failed', 'killed by SIGSEGV'],
  ['out of memory', { finish: completed, oomLimitText: '1 GB' }, 'failed', 'out of memory (limit 1 GB)'],
  ['deadline beats memory', { deadlinePassed: true, oomLimitText: '1 GB' }, 'timed_out', 'Task timeout exceeded'],
  ['cancel beats all', { canceledBy: 'canceled by ann', deadlinePassed: true }, 'canceled', 'canceled by ann'],
] as const)('outcome table: %s', (_name, facts, outcome, error) => {
  expect(outcomeOf(end(facts))).toMatchObject({ outcome, error })
})

it('notes a missing finish event', () => {
  expect(outcomeOf(end({})).note).toBe('no finish event')
})
