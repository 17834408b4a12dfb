import { expect, it } from 'vitest'
import { completionVerdict, type Standing, type Verdict } from './completion.ts'

const UNREPORTED = 'Failed to report completion: HTTPConnectionPool'

it.each<[Standing, Verdict, Verdict, Verdict]>([
  ['mine', 'take', 'take', 'hold'],
  ['lost', 'take', 'take', 'hold'],
  ['queued', 'take', 'take', 'hold'],
  ['held', 'take', 'duplicate', 'duplicate'],
  ['canceled', 'duplicate', 'duplicate', 'duplicate'],
  ['over', 'duplicate', 'duplicate', 'duplicate'],
  ['foreign', 'refuse', 'refuse', 'refuse'],
])(
  'an end of a job that is %s: completed %s, failed %s, report failed %s',
  (standing, completed, failed, unreported) => {
    expect(completionVerdict(standing, { status: 'completed', error: null })).toBe(completed)
    expect(completionVerdict(standing, { status: 'failed', error: 'boom' })).toBe(failed)
    expect(completionVerdict(standing, { status: 'failed', error: UNREPORTED })).toBe(unreported)
  },
)

it('holds back no success, whatever error stands beside it', () => {
  expect(completionVerdict('mine', { status: 'completed', error: UNREPORTED })).toBe('take')
})
