import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PlaceTracker } from './place-tracker.ts'

test('an id counts from the end of its block, also that of a ping', () => {
  const tracker = new PlaceTracker()
  expect(tracker.feed('event: a\nid: 7\n')).toBeUndefined()
  expect(tracker.feed('data: 1\n\n')).toBe('7')
  expect(tracker.feed(': ping\nid: 9\n')).toBe('7')
  expect(tracker.feed('\n')).toBe('9')
  expect(tracker.feed('data: without id\n\n')).toBe('9')
})

test('where the stream is cut into chunks makes no difference', () => {
  const text = 'id: 1\ndata: a\n\n: ping\nid: 22\n\nid: 333\ndata: b\n\ndata: c\n\nid: 4'
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: text.length })), cuts => {
      const tracker = new PlaceTracker()
      const at = [0, ...cuts.sort((a, b) => a - b), text.length]
      const places = at.slice(1).map((end, i) => tracker.feed(text.slice(at[i], end)))
      expect(places.at(-1)).toBe('333')
    }),
  )
})
