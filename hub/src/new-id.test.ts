import { expect, it } from 'vitest'
import { newId } from './new-id.ts'

it('makes ids that grow and never repeat', () => {
  const ids = Array.from({ length: 20_000 }, newId)
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  expect(new Set(ids.map(id => id.slice(-12))).size).toBe(ids.length)
  expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
