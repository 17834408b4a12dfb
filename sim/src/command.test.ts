import { expect, it } from 'vitest'
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

it('says what it does not understand', () => {
  expect(ask('--faults', 'gremlins')).toMatchObject({
    code: 2,
    text: expect.stringMatching(/no faults called "gremlins"/),
  })
  expect(ask('--jobs', 'many').text).toMatch(/--jobs is a number of 0 or more, found "many"/)
  expect(ask('--speed', '9').code).toBe(2)
  expect(ask('--help').code).toBe(0)
})
