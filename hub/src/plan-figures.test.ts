import { expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from './engine/test-house.ts'
import { PlanFigures } from './plan-figures.ts'
import { packed } from './scheduler/packed.ts'

it('counts the passes that had something to look at, and plans as before', async () => {
  const figures = new PlanFigures()
  const house = new TestHouse(figures.timed(packed))
  house.join(aHello('w'))
  const before = await passes(figures)
  const job = house.submit(aJob())
  house.pass(5, ['w'])
  expect(house.stateOf(job)).toBe('active')
  expect(await passes(figures)).toBe(before + 1)
})

async function passes({ seconds }: PlanFigures): Promise<number> {
  const { values } = await seconds.get()
  return values.find(({ metricName }) => metricName === 'stoker_plan_seconds_count')?.value ?? 0
}
