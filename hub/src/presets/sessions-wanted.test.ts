import { expect, test } from 'vitest'
import type { Preset } from './preset.ts'
import { type LiveSession, sessionsWanted } from './sessions-wanted.ts'
import { StartFailures } from './start-failures.ts'

const TERMS = { concurrency: 1, queue: 5, idleMs: 1000, lifetimeMs: 9000, restarts: 0, min: 0, max: 1 }

function aPreset(name: string, session: Partial<typeof TERMS> = {}, type: Preset['type'] = 'session'): Preset {
  const about = { model: null, description: '', difficulty: null, timeoutMs: 1, metadata: {}, file: 'f', line: 1 }
  return { ...about, name, type, program: { command: ['x'] }, session: { ...TERMS, ...session } }
}

const aLive = (seq: number, of: Partial<LiveSession> = {}): LiveSession => ({
  ...{ seq, preset: 'p', concurrency: 1, busy: 0, isLeaving: false, isOld: false },
  ...of,
})

function wanted(preset: Preset, live: readonly LiveSession[], queued = 0, resting: readonly string[] = []) {
  const { starts, outdated, kept } = sessionsWanted([preset], live, new Map([['p', queued]]), new Set(resting))
  return { starts: starts.get('p') ?? 0, outdated, kept }
}
const starts = (...of: Parameters<typeof wanted>) => wanted(...of).starts

test('nothing is started before somebody asks, but as many as shall always be there', () => {
  expect(starts(aPreset('p'), [])).toBe(0)
  expect(starts(aPreset('p', { min: 2, max: 3 }), [])).toBe(2)
  expect(starts(aPreset('p', { min: 2, max: 3 }), [aLive(1)])).toBe(1)
  expect(starts(aPreset('p', { min: 2, max: 3 }), [aLive(1), aLive(2)])).toBe(0)
  expect(starts(aPreset('p', { min: 2 }, 'oneoff'), [], 9)).toBe(0)
})

test('tasks that wait start sessions for their number, never more than allowed', () => {
  expect(starts(aPreset('p', { max: 3 }), [], 1)).toBe(1)
  expect(starts(aPreset('p', { max: 3 }), [], 9)).toBe(3)
  expect(starts(aPreset('p', { max: 9, concurrency: 4 }), [], 9)).toBe(3)
})

test('one that is about to have places is not asked for twice', () => {
  expect(starts(aPreset('p', { max: 3 }), [aLive(1)], 1)).toBe(0)
  expect(starts(aPreset('p', { max: 3 }), [aLive(1, { busy: 1 })], 1)).toBe(1)
  expect(starts(aPreset('p', { max: 3 }), [aLive(1), aLive(2)], 9)).toBe(1)
  expect(starts(aPreset('p', { max: 3, concurrency: 2 }), [aLive(1, { concurrency: 2, busy: 1 })], 2)).toBe(1)
})

test('those that leave count until they are gone, and serve nobody', () => {
  expect(starts(aPreset('p', { max: 1 }), [aLive(1, { isLeaving: true })], 1)).toBe(0)
  expect(starts(aPreset('p', { max: 2 }), [aLive(1, { isLeaving: true })], 1)).toBe(1)
  expect(wanted(aPreset('p', { min: 1, max: 2 }), [aLive(1, { isOld: true })])).toEqual({
    starts: 1,
    outdated: [1],
    kept: [],
  })
  expect(wanted(aPreset('p'), [aLive(1, { isOld: true, isLeaving: true })]).outdated).toEqual([])
})

test('of those that shall always be there the busiest and oldest are kept from ending', () => {
  const live = [aLive(3), aLive(2, { busy: 1 }), aLive(1), aLive(9, { preset: 'q' })]
  expect(wanted(aPreset('p', { min: 2, max: 3 }), live).kept).toEqual([2, 1])
})

test('while sessions of a preset fail nothing is started for it', () => {
  expect(starts(aPreset('p', { min: 1 }), [], 5, ['p'])).toBe(0)
})

test('a rest after failures gets longer, until one comes up', () => {
  const failures = new StartFailures()
  const rests: number[] = []
  for (let i = 0; i < 8; i += 1) {
    failures.failed('p', `failure ${i}`, 0)
    rests.push((failures.of('p', 0).nextStartAt ?? 0) / 1000)
  }
  expect(rests).toEqual([5, 10, 20, 40, 80, 160, 300, 300])
  expect([...failures.resting(299_999)]).toEqual(['p'])
  expect([...failures.resting(300_000)]).toEqual([])
  expect(failures.of('p', 300_000)).toEqual({ lastError: 'failure 7', nextStartAt: null })
  failures.forget('p')
  expect(failures.of('p', 0)).toEqual({ lastError: null, nextStartAt: null })
})
