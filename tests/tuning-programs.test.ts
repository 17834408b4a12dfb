import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { type MlEnvironment, mlEnvironment, showing } from './harness/ml-environment.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '..')
const MAIN = join(ROOT, 'jobs', 'sft', 'main.py')
/** Programs of a worker stand back behind everything else on a busy machine. */
const PATIENCE_MS = 10 * 60_000
const INPUT = {
  model: 'base',
  data: { jsonl: { path: 'facts.jsonl', prompt_field: 'q', response_field: 'a' } },
  training: { num_train_epochs: 2, batch_size: 8, learning_rate: 0.01, logging_steps: 4, save_steps: 8 },
}
const MATERIAL = `
import sys
from pathlib import Path
sys.path.append(sys.argv[1])
from tiny_language import facts_in, tiny_llama
tiny_llama(Path("base"))
facts_in(Path("facts.jsonl"))
`

type Trained = {
  final_model_archive: string
  trainingMetrics: { loss: number }[]
  artifacts: { name: string; sha256: string }[]
}

let environment: MlEnvironment
let house: House

beforeAll(async () => {
  environment = await mlEnvironment(['sft'])
}, 25 * 60_000)

beforeEach(async () => {
  house = await House.open()
})

afterEach(async () => {
  await house.close()
})

it(
  'teaches a model in the sandbox texts that came with the job, and brings its archive home',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    const { python } = environment
    await run(python, ['-B', '-c', MATERIAL, join(ROOT, 'jobs', 'lib')], { cwd: house.root })
    await house.startHub()
    await house.startWorker('w', { args: await showing(python) })
    const files = [house.path('base'), house.path('facts.jsonl')].flatMap(path => ['--files', path])
    const input = Object.entries(INPUT).flatMap(([key, value]) => ['--input', `${key}=${JSON.stringify(value)}`])
    const home = ['--output', 'outputs', '--out', house.path('home')]
    const words = ['--isolation', 'sandbox', ...input, ...files, ...home]
    const ran = await house.stoker(['run', '--json', ...words, '--', python, '-B', MAIN])
    const { id, job } = JSON.parse(ran.stdout)
    expect(job).toMatchObject({ state: 'succeeded', reason: null })
    const result = (await house.client.job(id)).result as Trained
    expect(result).toMatchObject({ training_successful: true, engine: 'trl', steps: 16, dataset_size: 64 })
    expect(result.trainingMetrics.at(-1)?.loss).toBeLessThan(result.trainingMetrics[0]?.loss ?? 0)
    expect(result.artifacts.map(({ name }) => name)).toContain(result.final_model_archive)
    for (const { name, sha256 } of result.artifacts) {
      const content = await readFile(house.path('home', 'outputs', name))
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256)
    }
  },
  PATIENCE_MS,
)

it(
  'has no mistakes that the check of programs knows, asked to stop included',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    await run(environment.python, ['-B', '-c', MATERIAL, join(ROOT, 'jobs', 'lib')], { cwd: house.root })
    const limits = ['--quiet', '--timeout', '5m', '--grace', '1m']
    const checked = house.program({
      script: join(ROOT, 'cli', 'dist', 'stoker.js'),
      args: ['program', 'check', ...limits, '--input', JSON.stringify(INPUT), '--', environment.python, '-B', MAIN],
      inside: ['env', '-C', house.root],
    })
    expect(await checked.exited).toMatchObject({ code: 0 })
    expect(checked.stdout).toBe('')
  },
  PATIENCE_MS,
)
