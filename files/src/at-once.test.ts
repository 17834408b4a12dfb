import { expect, it } from 'vitest'
import { atOnce } from './at-once.ts'

it('works at so many at once, and gives the results in the order of the list', async () => {
  const begun: (() => void)[] = []
  const all = atOnce(
    2,
    ['a', 'b', 'c'],
    (item, index) => new Promise(resolve => begun.push(() => resolve(item + index))),
  )
  expect(begun).toHaveLength(2)
  begun[1]?.()
  await expect.poll(() => begun.length).toBe(3)
  begun[2]?.()
  begun[0]?.()
  expect(await all).toEqual(['a0', 'b1', 'c2'])
})

it('begins nothing after a failure, and fails when what was begun is over', async () => {
  const begun: number[] = []
  let finish = () => {}
  let isOver = false
  const all = atOnce(2, [0, 1, 2, 3], async item => {
    begun.push(item)
    if (item === 0) throw new Error('no')
    await new Promise<void>(resolve => {
      finish = resolve
    })
    isOver = true
  })
  finish()
  await expect(all).rejects.toThrow('no')
  expect({ begun, isOver }).toEqual({ begun: [0, 1], isOver: true })
})
