import { expect, it } from 'vitest'
import { CrowdedHouse } from './crowded-house.ts'

it('has every worker busy and the rest queued, and keeps the times of passes', () => {
  const crowd = new CrowdedHouse({ shapes: 20, owners: 4, workers: 10, shapesOfOwner: 20, jobsOfShape: 2 })
  const { state } = crowd.house
  const live = state.queued.size + state.active.size
  expect(live).toBe(160)
  expect(state.active.size).toBeGreaterThan(0)
  expect(crowd.passMs).toEqual([])
  crowd.endOne()
  crowd.submit('owner-0', [3])
  expect(crowd.passMs.length).toBe(2)
  expect(state.queued.size + state.active.size).toBe(live)
  const before = state.queued.size
  expect(crowd.planFromNothing()).toBeGreaterThan(0)
  expect(state.queued.size).toBe(before)
})
