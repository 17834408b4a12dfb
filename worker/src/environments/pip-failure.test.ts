import { expect, it } from 'vitest'
import { pipFailure } from './pip-failure.ts'

it.each([
  ['ERROR: No matching distribution found for nope==1', 'nope==1'],
  ['ERROR: Could not find a version that satisfies the requirement nope (from versions: none)', 'nope'],
  ['  error: subprocess-exited-with-error\n  ERROR: Failed building wheel for broken-pkg\nERROR: x', 'broken-pkg'],
  ["ERROR: Invalid requirement: 'a b' (from line 1 of requirements.txt)", "'a b'"],
  [
    'ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.',
    'a==1 and b==2',
  ],
])('%j names the package', (words, name) => {
  expect(pipFailure(`Collecting\n${words}\n`)).toBe(`${name} could not be installed\nCollecting\n${words.trimEnd()}`)
})

it('without a name the last words of pip are the reason', () => {
  const words = Array.from({ length: 20 }, (_, n) => `line ${n}`).join('\n')
  expect(pipFailure(words)).toMatch(/^its packages could not be installed\nline 14\n[\s\S]*line 19$/)
})
