import { describe, expect, test } from 'vitest'
import { judge } from './judge.ts'
import type { Observation } from './observation.ts'
import { aRun } from './test-observation.ts'

const LIMITS = { timeoutMs: 60_000, graceMs: 10_000 }
const DONE = '{"event":"finish","status":"completed"}'
const FAILED = '{"event":"finish","status":"failed","error":"boom"}'
const READY = '{"event":"worker","status":"ready"}'

const of = (main: Observation, more: { onTerminal?: Observation; stop?: Observation } = {}) =>
  judge({ main, onTerminal: more.onTerminal ?? null, stop: more.stop ?? null }, LIMITS)
const codes = (main: Observation, more = {}) => of(main, more).map(one => `${one.level} ${one.code} ${one.line ?? '-'}`)

test('a program that says what it should has no mistakes', () => {
  const lines = ['{"event":"connection","status":"connected"}', 'plain', '2>talk', '{"a":1}', '{not an event}', '[1]']
  expect(of(aRun([...lines, '{"type":"text","data":{"content":"42"}}', DONE]))).toEqual([])
})

describe('a line', () => {
  test.each([
    ["{'event': 'text', 'content': 'x'}", 'json.dumps'],
    ['{"event": "progress", "percent": NaN}', 'no NaN'],
    ['{"event": "text", "ok": True}', 'words of Python'],
    ['{"event": "text", "content": "x",}', 'no comma'],
    ['{"event":"text","content":"a"}{"event":"text","content":"b"}', 'newline'],
    ['{"event": "text", "content": "half', 'on one line'],
    ['  "event": "text",', 'on one line'],
    ['data: {"event": "text", "content": "x"}', 'JSON alone'],
    ['{event: "text"}', 'JSON library'],
  ])('that wants to be an event and is no JSON is an error with a hint: %s', (line, hint) => {
    const [mistake, ...others] = of(aRun(['first', line, DONE]))
    expect(others).toEqual([])
    expect(mistake).toMatchObject({ level: 'error', code: 'json.invalid', stream: 'stdout', line: 2, run: 'once' })
    expect(mistake?.todo).toContain(hint)
  })

  test('with a name nobody knows is a warning with the nearest one', () => {
    const [mistake] = of(aRun(['{"event":"text_detla","delta":"x"}', DONE]))
    expect(mistake).toMatchObject({ level: 'warning', code: 'event.unknown', line: 1 })
    expect(mistake?.todo).toContain('text_delta')
  })

  test('counts as in an editor, blank lines too', () => {
    expect(codes(aRun(['', '{"event":"nonsense"}', DONE]))).toEqual(['warning event.unknown 2'])
  })

  test.each([
    ['{"event":"text_delta"}', 'warning event.field 1'],
    ['{"event":"text","content":5}', 'warning event.field 1'],
    ['{"event":"worker","message":"m"}', 'warning event.field 1'],
    ['{"event":"log","log":"x","level":"fatal"}', 'warning event.field 1'],
    ['{"event":"progress","percent":"40"}', 'warning event.field 1'],
    ['{"event":"progress","percent":101}', 'warning event.field 1'],
    [`{"event":"text","content":"${'x'.repeat(300_000)}"}`, 'warning result.too_large 1'],
    [`{"event":"logs","log":"${'x'.repeat(1024 * 1024)}"}`, 'error line.too_long 1'],
    ['2>{"event":"text","content":"x"}', 'error stderr.event 1'],
    ['caf\uFFFD', 'warning line.not_utf8 1'],
  ])('%.60s: %s', (line, expected) => {
    expect(codes(aRun([line, DONE]))).toEqual([expected])
  })
})

describe('the end of a one-off', () => {
  test.each([
    ['no finish', aRun(['x']), 'error finish.missing -'],
    ['no finish and a code', aRun([], { exitCode: 3 }), 'error finish.missing -'],
    ['two', aRun([DONE, DONE]), 'error finish.twice 2'],
    ['an event after it', aRun([DONE, READY]), 'error finish.not_last 2'],
    ['talk after it', aRun([DONE, 'bye', 'bye']), 'warning finish.not_last 2'],
    ['talk on stderr after it', aRun([DONE, '2>bye']), undefined],
    ['completed, 1', aRun([DONE], { exitCode: 1 }), 'error exit.after_completed -'],
    ['completed, killed', aRun([DONE], { exitCode: null, signal: 'SIGSEGV' }), 'error exit.after_completed -'],
    ['failed, 0', aRun([FAILED]), 'error exit.after_failed -'],
    ['failed, 1', aRun([FAILED], { exitCode: 1 }), 'warning run.failed -'],
    ['no status', aRun(['{"event":"finish"}']), 'warning finish.status 1'],
    ['an odd status', aRun(['{"event":"finish","status":"done"}']), 'error finish.status 1'],
    ['too slow', aRun(['x'], { hasTimedOut: true, exitCode: null, signal: 'SIGTERM' }), 'error run.timeout -'],
    ['goes on after finish', aRun([DONE], { hasTimedOut: true, exitCode: 143 }), 'error run.timeout -'],
  ])('%s', (_name, run, expected) => {
    expect(codes(run)).toEqual(expected === undefined ? [] : [expected])
  })
})

describe('a session', () => {
  const session = (lines: readonly string[], facts: Partial<Observation> = {}) =>
    aRun(lines, { kind: 'session', tasksSent: 2, inputEndedAtMs: 500, ...facts })
  const LATE = { inputEndedAtMs: null, hasTimedOut: true, exitCode: null, signal: 'SIGTERM' }

  test.each([
    ['ready, two answers, 0', session([READY, DONE, 'talk', DONE, READY]), undefined],
    ['never ready', session([], { ...LATE, tasksSent: 1 }), 'error session.never_ready -'],
    ['ready, no answer', session([READY], { ...LATE, tasksSent: 1 }), 'error session.unanswered -'],
    ['one answer, then silence', session([DONE], LATE), 'error session.unanswered -'],
    ['dies in a task', session([DONE, 'x'], { inputEndedAtMs: null, exitCode: 1 }), 'error session.unanswered -'],
    ['dies between tasks', session([DONE], { inputEndedAtMs: null, exitCode: 1 }), 'error session.died -'],
    ['is a one-off', session([DONE], { inputEndedAtMs: null }), 'warning session.one_off -'],
    ['answers too often', session([DONE, DONE, DONE, DONE]), 'error finish.twice 3'],
    ['fails a task', session([FAILED, DONE]), 'warning run.failed 1'],
    ['an error at the end of stdin', session([DONE, DONE], { exitCode: 1 }), 'error session.eof_error -'],
    ['does not see it', session([DONE, DONE], { wasKilled: true, exitCode: 137 }), 'error session.eof_ignored -'],
  ])('%s', (_name, run, expected) => {
    expect(codes(run)).toEqual(expected === undefined ? [] : [expected])
  })

  test('that was never ready is told how long was waited, or how it ended', () => {
    expect(of(session([], { ...LATE, tasksSent: 1 }))[0]?.text).toContain('within 1 m')
    const dead = session([], { inputEndedAtMs: null, tasksSent: 1, exitCode: 3 })
    expect(of(dead)[0]?.text).toContain('before it ended with exit code 3')
  })
})

describe('a request to stop', () => {
  const stop = (facts: Partial<Observation>) => ({ stop: aRun(['x'], { kind: 'stop', askedAtMs: 5, ...facts }) })

  test('that is followed in whatever way is fine', () => {
    expect(codes(aRun([DONE]), stop({ exitCode: null, signal: 'SIGTERM' }))).toEqual([])
    expect(codes(aRun([DONE]), stop({ exitCode: 3 }))).toEqual([])
  })

  test('that is ignored is an error, one that came too late a note', () => {
    expect(codes(aRun([DONE]), stop({ wasKilled: true }))).toEqual(['error stop.ignored -'])
    expect(codes(aRun([DONE]), stop({ askedAtMs: null }))).toEqual(['note stop.not_tried -'])
  })
})

describe('lines that all come at the end', () => {
  const burst = [
    [990, READY],
    [990, DONE],
  ] as const
  const spread = [
    [100, READY],
    [900, DONE],
  ] as const
  const onTerminal = aRun(spread, { kind: 'terminal' })

  test('are buffered if they come one after another with a terminal', () => {
    const [mistake] = of(aRun(burst), { onTerminal })
    expect(mistake).toMatchObject({ level: 'error', code: 'stdout.buffered' })
    expect(mistake?.text).toContain('all 2 lines on stdout came at once after 990 ms')
  })

  test('are nobody’s mistake if they come so with a terminal too', () => {
    expect(codes(aRun(burst), { onTerminal: aRun(burst) })).toEqual([])
  })

  test('are odd where no terminal could be had', () => {
    expect(codes(aRun(burst))).toEqual(['warning stdout.late -'])
  })

  test.each([
    ['they come over time', aRun(spread)],
    [
      'the run was short',
      aRun(
        burst.map(([, line]) => [99, line] as const),
        { endedAtMs: 100 },
      ),
    ],
    ['the check slept meanwhile', aRun(burst, { longestNapMs: 600 })],
    ['there is only one', aRun([[990, DONE]])],
  ])('say nothing where %s', (_name, run) => {
    expect(codes(run, { onTerminal })).toEqual([])
  })
})

test('errors come before warnings before notes', () => {
  const stop = aRun([], { kind: 'stop' })
  const run = aRun(['{"event":"nonsense"}', '2>{"event":"text","content":"x"}', DONE])
  expect(of(run, { stop }).map(one => one.level)).toEqual(['error', 'warning', 'note'])
})
