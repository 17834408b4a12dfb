import { expect, it } from 'vitest'
import { figureIn } from './hub-figure.ts'

it('finds a figure by its whole name, and misses none silently', () => {
  const page = '# HELP a about\na{q="0.5"} 1\na{q="0.99"} 0.0025\nab 7\n'
  expect([figureIn(page, 'a{q="0.99"}'), figureIn(page, 'ab')]).toEqual([0.0025, 7])
  expect(() => figureIn(page, 'b')).toThrow('should have b')
})
