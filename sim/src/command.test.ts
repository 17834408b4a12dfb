import { expect, it } from 'vitest'
import type { GuessFigures } from './check/start-guesses.ts'
import { simulate } from './command.ts'

function ask(...args: string[]): { readonly code: number; readonly text: string } {
  const said: string[] = []
  const code = simulate(args, text => said.push(text))
  return { code, text: said.join('\n') }
}

it('reports figures of one seed', () => {
  const { code, text } = ask('--seed', '4', '--jobs', '10', '--faults', 'none')
  expect(code).toBe(0)
  expect(text).toMatch(/^seed 4: 10 jobs, /)
  expect(text).toMatch(/waits {9}p50 \d+ ms, p99 \d+ ms/)
  expect(text).toMatch(/no violation$/)
})

it('sums up many seeds, or gives them all as JSON', () => {
  expect(ask('--seeds', '2', '--jobs', '5').text).toMatch(/^2 seeds: 10 jobs/)
  expect(JSON.parse(ask('--seeds', '2', '--jobs', '5', '--json').text)).toHaveLength(2)
})

it('compares predicted starts with those that came, when asked to', () => {
  const { code, text } = ask(
    '--explain',
    '--jobs',
    '200',
    '--workers',
    '3',
    '--faults',
    'none',
    '--seeds',
    '3',
    '--json',
  )
  expect(code).toBe(0)
  const guesses = JSON.parse(text).map(({ guesses }: { guesses: GuessFigures }) => guesses) as GuessFigures[]
  const answered = guesses.reduce((sum, one) => sum + one.answered, 0)
  const byP90 = guesses.reduce((sum, one) => sum + one.byP90 * one.answered, 0) / answered
  expect(answered).toBeGreaterThan(100)
  expect(byP90).toBeGreaterThanOrEqual(0.75)
  expect(ask('--explain', '--jobs', '40', '--faults', 'none').text).toMatch(
    /predictions {3}\d+ of \d+ questions had one/,
  )
})

it('says what it does not understand', () => {
  expect(ask('--faults', 'gremlins')).toMatchObject({
    code: 2,
    text: expect.stringMatching(/no faults called "gremlins"/),
  })
  expect(ask('--jobs', 'many').text).toMatch(/--jobs is a number of 0 or more, found "many"/)
  expect(ask('--speed', '9').code).toBe(2)
  expect(ask('--help').code).toBe(0)
})
