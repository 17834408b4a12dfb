import { expect, it } from 'vitest'
import type { Exit } from '../executors/port.ts'
import { sessionFate, unfinishedFate } from './task-end.ts'
import { aSession } from './test-session-bench.ts'

const EXIT: Exit = {
  ...{ exitCode: 0, signal: null, oom: false, stoppedBy: null, startError: null, limitsBy: 'none', keeperLost: false },
  ...{ startedAtMs: 1, endedAtMs: 2, cpuSeconds: 0, maxRssBytes: 0, droppedBytes: { stdout: 0, stderr: 0 }, lines: 2 },
}
const KILLED = { ...EXIT, exitCode: null, signal: 'SIGKILL' }
const CRASHED = { ...EXIT, exitCode: 3 }
const end = (exit: Exit, cause?: string) => ({
  ...{ offer: aSession({}), exit, lastStderr: ['last words'] },
  stop: cause === undefined ? null : { cause, text: `because of ${cause}` },
})
const GIVEN = { stop: null, wasGiven: true, hasAnswered: true, isOpener: false }

it.each([
  ['its program crashed', GIVEN, end(CRASHED), 'failed', 'exited with code 3\nlast words'],
  ['its program left in the middle of it', GIVEN, end(EXIT), 'completed', null],
  ['its program left before it began', { ...GIVEN, hasAnswered: false }, end(EXIT), 'lost', /before it began/],
  ['a one-off program said nothing', { ...GIVEN, hasAnswered: false, isOpener: true }, end(EXIT), 'completed', null],
  ['its line was never written', { ...GIVEN, wasGiven: false }, end(CRASHED), 'lost', /before the program was given/],
  ['out of memory', GIVEN, end({ ...KILLED, oom: true }), 'failed', /^out of memory/],
  [
    'its session was ended',
    GIVEN,
    end({ ...EXIT, stoppedBy: 'eof' }, 'session'),
    'failed',
    'session ended: because of session',
  ],
  ['its session was canceled', GIVEN, end(KILLED, 'canceled'), 'failed', 'session ended: because of canceled'],
  ['its worker shuts down', GIVEN, end(KILLED, 'shutdown'), 'lost', /shutdown/],
  ['another task was stopped', GIVEN, end(KILLED, 'task'), 'lost', /because of task/],
  ['the keeper is gone', GIVEN, end({ ...KILLED, keeperLost: true }), 'lost', /keeper/],
  [
    'it was canceled itself',
    { ...GIVEN, stop: { cause: 'canceled', text: 'by ann' } },
    end(KILLED, 'task'),
    'canceled',
    'by ann',
  ],
  [
    'it took too long',
    { ...GIVEN, stop: { cause: 'deadline', text: 'too long' } },
    end(KILLED, 'task'),
    'timed_out',
    'too long',
  ],
] as const)('a task without an end, when %s', (_, task, session, outcome, error) => {
  const fate = unfinishedFate(task, session)
  expect(fate.outcome).toBe(outcome)
  if (error instanceof RegExp) expect(fate.error).toMatch(error)
  else expect(fate.error).toBe(error)
})

it.each([
  ['by itself', end(EXIT), 'completed', null, 'worker_exited'],
  ['by a crash', end(CRASHED), 'failed', 'exited with code 3\nlast words', null],
  ['as it was asked to', end(EXIT, 'session'), 'completed', null, 'because of session'],
  ['as it was asked to, badly', end(CRASHED, 'session'), 'completed', null, 'because of session; exited with code 3'],
  [
    'killed because it stayed',
    end(KILLED, 'session'),
    'completed',
    null,
    /did not leave in time and was ended by SIGKILL/,
  ],
  ['with its worker', end(KILLED, 'shutdown'), 'completed', null, 'shutdown'],
  ['with a task', end(KILLED, 'task'), 'failed', 'because of task', null],
  ['because a user wanted', end(KILLED, 'canceled'), 'canceled', 'because of canceled', null],
  [
    'before it started',
    end({ ...EXIT, exitCode: null, startError: 'no such program' }, 'session'),
    'failed',
    'no such program',
    null,
  ],
] as const)('a session that ends %s', (_, session, outcome, error, note) => {
  const fate = sessionFate(session)
  expect([fate.outcome, fate.error]).toEqual([outcome, error])
  if (note instanceof RegExp) expect(fate.note).toMatch(note)
  else expect(fate.note).toBe(note)
})
