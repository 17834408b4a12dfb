import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { type MlEnvironment, mlEnvironment, showing } from './harness/ml-environment.ts'

const ROOT = resolve(import.meta.dirname, '..')
const MAIN = join(ROOT, 'jobs', 'mnist_training', 'main.py')
const DIGITS = join(ROOT, 'tests', 'data', 'mnist')
/** Programs of a worker stand back behind everything else on a busy machine. */
const PATIENCE_MS = 10 * 60_000
const SHORT = JSON.stringify({ epochs: 1, batch_size: 250 })

let environment: MlEnvironment
let house: House

beforeAll(async () => {
  environment = await mlEnvironment(['mnist_training'])
}, 25 * 60_000)

beforeEach(async () => {
  house = await House.open()
})

afterEach(async () => {
  await house.close()
})

it(
  'trains in the sandbox on digits that were sent with the job, and brings weights, metrics and curve home',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    await house.startHub()
    await house.startWorker('w', { args: await showing(environment.python) })
    const input = ['--input', 'epochs=1', '--input', 'batch_size=250']
    const files = ['--files', `${DIGITS}:mnist`, '--output', 'outputs', '--out', house.path('home')]
    const words = ['--isolation', 'sandbox', ...input, ...files, '--', environment.python, '-B', MAIN]
    const ran = await house.stoker(['run', '--json', ...words])
    const { id, job } = JSON.parse(ran.stdout)
    expect(job).toMatchObject({ state: 'succeeded', reason: null })
    const { result } = await house.client.job(id)
    expect(result).toMatchObject({ engine: 'torch', dataset: { trainExamples: 5000, synthetic: false } })
    for (const { name, sha256 } of (result as { artifacts: { name: string; sha256: string }[] }).artifacts) {
      const content = await readFile(house.path('home', 'outputs', name))
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256)
    }
  },
  PATIENCE_MS,
)

it(
  'trains as two ranks in a sandbox without a network, and comes to one model',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    await house.startHub()
    await house.startWorker('w', { args: await showing(environment.python) })
    const input = ['--input', 'epochs=1', '--input', 'batch_size=250', '--files', `${DIGITS}:mnist`]
    const words = ['--isolation', 'sandbox', '--network', 'none', '--ranks', '2', '--cpus', '2', ...input]
    const ran = await house.stoker(['run', '--json', ...words, '--', environment.python, '-B', MAIN])
    const { id, job } = JSON.parse(ran.stdout)
    expect(job).toMatchObject({ state: 'succeeded', reason: null })
    expect((await house.client.job(id)).result).toMatchObject({
      ranks: 2,
      engine: 'torch',
      finalLoss: expect.any(Number),
    })
  },
  PATIENCE_MS,
)

it(
  'has no mistakes that the check of programs knows, asked to stop included',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    const words = ['--input', SHORT, '--env', `DATA_PATH=${DIGITS}`]
    const checked = house.program({
      script: join(ROOT, 'cli', 'dist', 'stoker.js'),
      args: [
        'program',
        'check',
        '--quiet',
        '--timeout',
        '5m',
        '--grace',
        '1m',
        ...words,
        '--',
        environment.python,
        '-B',
        MAIN,
      ],
      inside: ['env', '-C', house.root],
    })
    expect(await checked.exited).toMatchObject({ code: 0 })
    expect(checked.stdout).toBe('')
  },
  PATIENCE_MS,
)
