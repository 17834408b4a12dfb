import { expect, it } from 'vitest'
import { incompatibility } from './version.ts'

it('works with one minor of difference either way', () => {
  expect(incompatibility({ major: 1, minor: 3 }, { major: 1, minor: 2 })).toBeNull()
  expect(incompatibility({ major: 1, minor: 2 }, { major: 1, minor: 3 })).toBeNull()
})

it('refuses more with a sentence that says who is older', () => {
  expect(incompatibility({ major: 2, minor: 0 }, { major: 1, minor: 0 })).toMatch(
    /protocol 1.0 meets 2.0.*upgrade the other side/,
  )
  expect(incompatibility({ major: 1, minor: 0 }, { major: 1, minor: 2 })).toMatch(/upgrade this side/)
})
