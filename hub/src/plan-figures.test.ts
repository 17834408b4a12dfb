import { expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from './engine/test-house.ts'
import { PlanFigures } from './plan-figures.ts'
import { packed } from './scheduler/packed.ts'

it('counts the passes that had something to look at, and plans as before', () => {
  const figures = new PlanFigures()
  const house = new TestHouse(figures.timed(packed))
  house.join(aHello('w'))
  const before = figures.seconds.count
  const job = house.submit(aJob())
  house.pass(5, ['w'])
  expect(house.stateOf(job)).toBe('active')
  expect(figures.seconds.count).toBe(before + 1)
})
