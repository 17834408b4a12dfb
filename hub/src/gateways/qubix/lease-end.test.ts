import { expect, it } from 'vitest'
import type { ActiveJob } from '../../engine/state.ts'
import { type LeaseEnd, leaseEnd } from './lease-end.ts'

const MINUTE = 60_000
const active = (over: Partial<ActiveJob> = {}) =>
  ({ cancelBy: null, newsAt: 0, runningAt: null, placedAt: 0, ...over }) as ActiveJob
const terms = { type: 'custom_script', timeoutMs: null, lostAfterMs: null }
const HELD = { error: 'Failed to report completion: x' }
const end = (
  over: Partial<ActiveJob>,
  of: Partial<typeof terms> | { timeoutMs: number },
  held: typeof HELD | null,
  at: number,
) => leaseEnd(active(over), { ...terms, ...of }, held, { wall: at, lease: at })?.end ?? null

it.each<[string, Parameters<typeof end>, LeaseEnd['end'] | null]>([
  ['is young', [{}, {}, null, 5 * MINUTE - 1], null],
  ['was silent for five minutes', [{}, {}, null, 5 * MINUTE], 'lost'],
  ['had news since', [{ newsAt: MINUTE }, {}, null, 5 * MINUTE], null],
  ['makes pictures', [{}, { type: 'stable_diffusion' }, null, 29 * MINUTE], null],
  ['makes pictures, for too long', [{}, { type: 'stable_diffusion' }, null, 30 * MINUTE], 'lost'],
  ['may take a minute', [{ newsAt: MINUTE }, { timeoutMs: MINUTE }, null, MINUTE], 'timed_out'],
  ['began later', [{ newsAt: MINUTE, runningAt: 1000 }, { timeoutMs: MINUTE }, null, MINUTE], null],
  ['someone canceled', [{ cancelBy: 'ann' }, {}, null, 0], 'canceled'],
  ['could not be reported', [{}, {}, HELD, 29_999], null],
  ['could not be reported for 30 seconds', [{}, {}, HELD, 30_000], 'unreported'],
  ['was claimed a moment ago', [{ newsAt: Number.NaN }, {}, null, 60 * MINUTE], null],
])('an attempt that %s', (_, asked, expected) => {
  expect(end(...asked)).toBe(expected)
})
