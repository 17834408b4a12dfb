import { expect, test } from 'vitest'
import { SpokenPieces } from './spoken-pieces.ts'

function after(...pieces: readonly string[]): SpokenPieces {
  const spoken = new SpokenPieces()
  for (const piece of pieces) expect(spoken.add(piece)).toBe(piece)
  return spoken
}

test('a whole text after its pieces adds only what they did not say', () => {
  expect(after('Hello ', 'you').close('Hello you')).toEqual({ rest: '', isNew: false })
  expect(after('Hello ').close('Hello you')).toEqual({ rest: 'you', isNew: false })
  expect(after('Hello you\n').close('Hello you')).toEqual({ rest: '', isNew: false })
})

test('a whole text that is another one, or the first word, is shown as it is', () => {
  expect(after('Hel', 'o').close('Hello you')).toEqual({ rest: 'Hello you', isNew: true })
  const spoken = after('a')
  spoken.close('a')
  expect(spoken.close('b')).toEqual({ rest: 'b', isNew: true })
  expect(after().close('all at once')).toEqual({ rest: 'all at once', isNew: true })
})
