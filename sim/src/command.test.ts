import { expect, it, vi } from 'vitest'
import type { GuessFigures } from './check/start-guesses.ts'
import { simulate } from './command.ts'
import type { SimOptions } from './run.ts'
import { seedRunner } from './seed-runner.ts'

/** What threads would run at once runs here in turn. */
const inTurn = async (seeds: readonly SimOptions[]) => seeds.map(seedRunner(seeds.length))

async function ask(...args: string[]): Promise<{ readonly code: number; readonly text: string }> {
  const said: string[] = []
  const code = await simulate(args, text => said.push(text), inTurn)
  return { code, text: said.join('\n') }
}

it('reports figures of one seed', async () => {
  const { code, text } = await ask('--seed', '4', '--jobs', '10', '--faults', 'none')
  expect(code).toBe(0)
  expect(text).toMatch(/^seed 4: 10 jobs, /)
  expect(text).toMatch(/waits {9}p50 \d+ ms, p99 \d+ ms/)
  expect(text).toMatch(/no violation$/)
})

it('runs seeds at once with more threads than one, and one after the other without', async () => {
  const sideBySide = vi.fn(inTurn)
  const run = (...args: string[]) => simulate(['--jobs', '5', ...args], () => {}, sideBySide)
  await run('--seeds', '3', '--threads', '1')
  await run('--seeds', '1', '--threads', '8')
  expect(sideBySide).not.toHaveBeenCalled()
  await run('--seeds', '3', '--threads', '8')
  expect(sideBySide).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ length: 3 }), 3)
})

it('sums up many seeds, or gives them all as JSON', async () => {
  expect((await ask('--seeds', '2', '--jobs', '5')).text).toMatch(/^2 seeds: 10 jobs/)
  expect(JSON.parse((await ask('--seeds', '2', '--jobs', '5', '--json')).text)).toHaveLength(2)
})

it('compares predicted starts with those that came, when asked to', async () => {
  const { code, text } = await ask(
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
  expect((await ask('--explain', '--jobs', '40', '--faults', 'none')).text).toMatch(
    /predictions {3}\d+ of \d+ questions had one/,
  )
})

it('says what it does not understand', async () => {
  expect(await ask('--faults', 'gremlins')).toMatchObject({
    code: 2,
    text: expect.stringMatching(/no faults called "gremlins"/),
  })
  expect((await ask('--jobs', 'many')).text).toMatch(/--jobs is a number of 0 or more, found "many"/)
  expect((await ask('--speed', '9')).code).toBe(2)
  expect((await ask('--help')).code).toBe(0)
})
