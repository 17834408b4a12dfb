import { type AttemptReport, fenceKey } from '@stoker/protocol'
import { beforeEach, expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from './test-house.ts'
import { lostByRestart, restarted } from './test-restart.ts'

const ID = 'a'.repeat(64)
let house: TestHouse
beforeEach(() => {
  house = new TestHouse()
  house.join(aHello('w'))
})

function inside(job: number): AttemptReport {
  return { kind: 'running', fence: house.fenceOf(job), at: house.now.wall, isolation: 'container', containerId: ID }
}

it('keeps the id of the container an attempt runs in, also through a restart and a loss', () => {
  const job = house.submit(aJob({ command: 'x' }))
  house.report('w', inside(job))
  expect(house.state.active.get(job)?.containerId).toBe(ID)
  expect(lostByRestart(house)).toBeNull()
  const fence = house.fenceOf(job)
  house.pass(20)
  expect(house.state.workers.get('w')?.lost.get(fenceKey(fence))?.containerId).toBe(ID)
  expect(lostByRestart(house)).toBeNull()
  house.join(aHello('w', { nextBatch: 2, holding: [{ fence, state: 'running', startedAt: 1 }] }))
  expect(house.state.active.get(job)?.containerId).toBe(ID)
  expect(restarted(house).active.get(job)?.containerId).toBe(ID)
})

it('learns it late of a session whose worker came back before it could say how it runs', () => {
  const job = house.submit(aJob({ command: 'x', session: {} }))
  const fence = house.fenceOf(job)
  house.join(aHello('w', { bootId: 'boot-2', holding: [{ fence, state: 'running', startedAt: 1 }] }))
  expect(house.state.active.get(job)).toMatchObject({ state: 'running', isolation: null, containerId: null })
  house.report('w', inside(job))
  expect(house.state.active.get(job)).toMatchObject({ isolation: 'container', containerId: ID })
  expect(restarted(house).active.get(job)?.containerId).toBe(ID)
})

it('forgets it with the attempt: the next one runs in another', () => {
  const job = house.submit(aJob({ command: 'x', retries: { max: 1 } }))
  house.report('w', inside(job), house.ended(house.fenceOf(job), 'failed'))
  house.pass(10, ['w'])
  expect(house.state.active.get(job)).toMatchObject({ containerId: null, claim: { attempt: 2 } })
  expect(lostByRestart(house)).toBeNull()
})
