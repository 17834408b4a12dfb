import { expect, it } from 'vitest'
import { Turns } from './turns.ts'

it('lets what is about one wait for its turn, others pass, and a failure hold up nobody', async () => {
  const turns = new Turns()
  const said: string[] = []
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  const first = turns.take('a', async () => {
    await gate
    said.push('first')
    throw new Error('no')
  })
  const second = turns.take('a', async () => void said.push('second'))
  await turns.take('b', async () => void said.push('other'))
  open()
  await expect(first).rejects.toThrow('no')
  await second
  expect(said).toEqual(['other', 'first', 'second'])
  expect(turns.size).toBe(0)
})
