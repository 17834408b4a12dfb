import type { AttemptReport } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Delivery } from './delivery.ts'
import { unstartedReport } from './program-end.ts'
import { StartTelling } from './start-telling.ts'

const FENCE = { job: 1, epoch: 1, attempt: 1 }
const RUNNING: AttemptReport = { kind: 'running', fence: FENCE, at: 1, isolation: 'none' }
const ENDED = unstartedReport(FENCE, 2, { outcome: 'completed', error: null, note: null })

let told: AttemptReport[]
beforeEach(() => {
  told = []
  vi.useFakeTimers()
})
afterEach(() => void vi.useRealTimers())

function aStart(): StartTelling {
  const report = (reports: readonly AttemptReport[]) => void told.push(...reports)
  return new StartTelling({ report } as unknown as Delivery, RUNNING)
}

it('is told with an end that comes at once', () => {
  expect(aStart().with(ENDED)).toEqual([RUNNING, ENDED])
  vi.advanceTimersByTime(1000)
  expect(told).toEqual([])
})

it('is told by itself before anybody who follows the program would notice, and once', () => {
  const start = aStart()
  vi.advanceTimersByTime(20)
  expect(told).toEqual([RUNNING])
  expect(start.with(ENDED)).toEqual([ENDED])
})
