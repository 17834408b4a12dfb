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

it('lets rows from the bottom win, whatever stands above them', () => {
  const finishes = [null, completed, failed, { status: 'odd', message: null, error: null }]
  const exits = [{ exitCode: 0 }, { exitCode: 7 }, { exitCode: null, signal: 'SIGKILL' }]
  for (const finish of finishes)
    for (const exit of exits) {
      const facts = { finish, ...exit, lastStderr: ['words'] }
      expect(outcomeOf(end({ ...facts, oomLimitText: '1 GB' }))).toEqual({
        outcome: 'failed',
        error: 'out of memory (limit 1 GB)',
        note: null,
      })
      const late = { ...facts, oomLimitText: '1 GB', deadlinePassed: true }
      expect(outcomeOf(end(late))).toEqual({ outcome: 'timed_out', error: 'Task timeout exceeded', note: null })
      expect(outcomeOf(end({ ...late, canceledBy: 'ann' }))).toEqual({ outcome: 'canceled', error: 'ann', note: null })
    }
})

it.each([
  ['failed, 9', { finish: failed, exitCode: 9 }, 'boom'],
  ['failed, killed', { finish: failed, exitCode: null, signal: 'SIGKILL' }, 'boom'],
  ['completed, killed', { finish: completed, exitCode: null, signal: 'SIGKILL' }, 'killed by SIGKILL after finish'],
  ['none, 2 without stderr', { exitCode: 2 }, 'exited with code 2'],
  [
    'failed without any text',
    { finish: { ...failed, error: null, message: null } },
    'the program reported failure without a reason',
  ],
])('failed, with the words of its row: %s', (_name, facts, error) => {
  expect(outcomeOf(end(facts))).toEqual({ outcome: 'failed', error, note: null })
})

it('notes a finish whose status nobody knows', () => {
  expect(outcomeOf(end({ finish: { ...completed, status: 'done' } }))).toMatchObject({
    outcome: 'completed',
    note: 'finish has status "done", neither completed nor failed: the exit code decided',
  })
})
