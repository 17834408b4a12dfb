import { expect, it } from 'vitest'
import { createLane } from './lane.ts'

it('runs a task before the call returns when nothing is under way', async () => {
  const lane = createLane()
  let ran = false
  const running = lane.run(() => {
    ran = true
  })
  expect(ran).toBe(true)
  await running
})

it('runs tasks in the order of the calls, whatever their kind, and after failures', async () => {
  const lane = createLane()
  const order: number[] = []
  let release = () => {}
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  const tasks = [
    lane.run(async () => {
      await gate
      order.push(1)
      throw new Error('first')
    }),
    lane.run(() => void order.push(2)),
    lane.run(() => {
      order.push(3)
      throw new Error('third')
    }),
    lane.run(async () => void order.push(4)),
  ]
  expect(order).toEqual([])
  release()
  const results = await Promise.allSettled(tasks)
  await lane.idle()
  expect(order).toEqual([1, 2, 3, 4])
  expect(results.map(result => result.status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
})
