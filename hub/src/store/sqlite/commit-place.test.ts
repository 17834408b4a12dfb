import { expect, it } from 'vitest'
import { CommitPlace } from './commit-place.ts'

const after = (place: CommitPlace, count: number, ms: number) => {
  for (let i = 0; i < count; i += 1) place.took(ms)
  return place.isMain
}

it('is the main thread, and still is after one commit that was a little slow', () => {
  const place = new CommitPlace()
  expect(place.isMain).toBe(true)
  expect(after(place, 100, 0.3)).toBe(true)
  expect(after(place, 1, 10)).toBe(true)
})

it('is the thread while the disk is slow, until it is well again', () => {
  const place = new CommitPlace()
  expect(after(place, 10, 8)).toBe(false)
  expect(after(place, 5, 2)).toBe(false)
  expect(after(place, 20, 0.4)).toBe(true)
})
