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

it('starts those that join when the one before has handed over, and all others at its end', async () => {
  const lane = createLane()
  const order: string[] = []
  const ends = new Map<string, () => void>()
  const task = (name: string) => (handedOver: () => void) => {
    order.push(`${name} starts`)
    return new Promise<void>(resolve => {
      ends.set(`${name} handed over`, handedOver)
      ends.set(name, () => {
        order.push(`${name} ends`)
        resolve()
      })
    })
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  void lane.join(task('a'))
  void lane.join(task('b'))
  await new Promise(setImmediate)
  expect(order).toEqual(['a starts'])
  await end('a handed over')
  void lane.join(task('c'))
  expect(order).toEqual(['a starts'])
  await end('a')
  await end('b handed over')
  expect(order).toEqual(['a starts', 'a ends', 'b starts'])
  await end('b')
  await end('c handed over')
  void lane.join(task('d'))
  void lane.run(() => void order.push('e'))
  expect(order.slice(3)).toEqual(['b ends', 'c starts', 'd starts'])
  await end('c')
  expect(order).not.toContain('e')
  await end('d')
  expect(order.slice(6)).toEqual(['c ends', 'd ends', 'e'])
  await lane.idle()
})
