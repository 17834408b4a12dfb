import type { Offer } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { TasksAhead } from './tasks-ahead.ts'

const offer = (job: number) => ({ fence: { job, epoch: 1, attempt: 1 } }) as Offer
const jobsOf = (offers: readonly Offer[]) => offers.map(({ fence }) => fence.job)

let back: number[]
let ahead: TasksAhead
beforeEach(() => {
  vi.useFakeTimers()
  back = []
  ahead = new TasksAhead(offers => back.push(...jobsOf(offers)))
})
afterEach(() => {
  ahead.removeAll()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

it('gives tasks in the order they came, and all back when none could move for a second', () => {
  for (const job of [1, 2, 3]) ahead.add(offer(job))
  vi.advanceTimersByTime(900)
  expect(ahead.next()?.fence.job).toBe(1)
  vi.advanceTimersByTime(900)
  expect(back).toEqual([])
  vi.advanceTimersByTime(100)
  expect(back).toEqual([2, 3])
  expect(ahead.next()).toBeUndefined()
})

it('lets one go that nobody waits for any more, and knows who never waited', () => {
  for (const job of [1, 2]) ahead.add(offer(job))
  expect(ahead.remove(offer(1).fence)?.fence.job).toBe(1)
  expect(ahead.remove(offer(1).fence)).toBeNull()
  expect(jobsOf(ahead.all)).toEqual([2])
  expect(ahead.remove(offer(2).fence)?.fence.job).toBe(2)
  vi.advanceTimersByTime(5000)
  expect(back).toEqual([])
})
