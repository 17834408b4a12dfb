import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IMAGE } from './harness/engine.ts'
import { sharedEngine } from './harness/engine-shared.ts'
import { House } from './harness/house.ts'
import { logOf } from './harness/jobs.ts'
import { type MlEnvironment, mlEnvironment, packagesFor, showing } from './harness/ml-environment.ts'

const execute = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '..')
const JOBS = join(ROOT, 'jobs')
/** Programs of a worker stand back behind everything else on a busy machine. */
const PATIENCE_MS = 10 * 60_000
/** Models of some hundred kilobytes, built from configs, and texts for them. */
const MATERIAL = `
import sys
from pathlib import Path
sys.path.append(sys.argv[1])
from sample_data import texts_in, tiny_bert
from tiny_diffusion import tiny_diffusion
from tiny_language import facts_in, tiny_judge, tiny_llama
tiny_llama(Path("base"))
tiny_judge(Path("judge"))
tiny_bert(Path("bert"))
tiny_diffusion(Path("sd"))
facts_in(Path("facts.jsonl"))
texts_in(Path("texts.jsonl"), 40)
`
/** Some libraries take modules elsewhere for code of the program's own and would pickle them. */
const SEEN_AT = '/packages/site-packages'
const FACTS = { jsonl: { path: 'facts.jsonl', prompt_field: 'q', response_field: 'a' } }
const SHORT = { num_train_epochs: 1, batch_size: 16, logging_steps: 2 }
const PAIR = { prompt: 'what does ann like ?', chosen: ' ann likes red .', rejected: ' ann likes bad .' }

interface Case {
  readonly type: string
  readonly files: readonly string[]
  readonly input: Readonly<Record<string, unknown>>
  readonly result: object
}

/** Those that no other test runs through a hub in both ways; what they learn is proven by their own tests. */
const CASES: readonly Case[] = [
  {
    type: 'compute',
    files: [],
    input: { kind: 'hash', iterations: 1000 },
    result: { engine: 'builtin', computationData: { iterations: 1000 } },
  },
  {
    type: 'training',
    files: ['texts.jsonl'],
    input: { dataset: 'texts.jsonl', epochs: 1, batch_size: 8 },
    result: { engine: 'torch', dataset: { synthetic: false } },
  },
  {
    type: 'fine-tuning',
    files: ['bert', 'texts.jsonl'],
    input: { baseModel: 'bert', dataset: 'texts.jsonl', epochs: 1, batch_size: 8 },
    result: { engine: 'torch', baseModel: { name: 'bert', lastLayer: 'kept' }, trainingMetrics: [{ epoch: 1 }] },
  },
  {
    type: 'lora_sft',
    files: ['base', 'facts.jsonl'],
    input: { model: 'base', data: FACTS, training: SHORT, lora: { r: 4 } },
    result: { engine: 'trl', final_lora_archive: 'final_lora.tar.gz' },
  },
  {
    type: 'dpo',
    files: ['base'],
    input: { model: 'base', data: { preferences: [PAIR, PAIR] }, training: { ...SHORT, logging_steps: 1 } },
    result: { engine: 'trl', finalMargin: expect.any(Number) },
  },
  {
    type: 'ppo',
    files: ['base', 'judge'],
    input: {
      model: 'base',
      reward_model: 'judge',
      data: { prompts: [PAIR.prompt] },
      generation: { max_new_tokens: 4 },
      training: { steps: 2, batch_size: 4, mini_batch_size: 4, logging_steps: 1 },
    },
    result: { engine: 'torch', steps: 2, finalReward: expect.any(Number) },
  },
  {
    type: 'rag',
    files: ['bert', 'lighthouse.md'],
    input: { embedding: 'bert', documents: 'lighthouse.md', query: 'Who may use the boat?', search: { top_k: 2 } },
    result: { queries: [{ query: 'Who may use the boat?' }] },
  },
  {
    type: 'stable_diffusion',
    files: ['sd'],
    input: { model: 'sd', prompt: 'a red house', steps: 2, seed: 3, width: 32, height: 32 },
    result: { engine: 'diffusers', images: ['image-0001.png'] },
  },
]

const engine = await sharedEngine('docker')
let environment: MlEnvironment
let house: House

beforeAll(async () => {
  environment = await mlEnvironment(['sft'])
  house = await House.open()
  if ('reason' in environment) return
  const { python } = environment
  await execute(python, ['-B', '-c', MATERIAL, join(JOBS, 'lib')], { cwd: house.root })
  await execute('cp', [join(ROOT, 'examples', 'lighthouse.md'), house.root])
  await execute('chmod', ['-R', 'a+rX', house.root])
  const packages = await packagesFor(environment, '/usr/bin/python3')
  const containers = typeof engine === 'string' ? ['--engine', 'none'] : ['--engine', engine.socket, '--no-pull']
  const mounted = 'folder' in packages ? ['--allow-mount', packages.folder] : []
  await house.startHub()
  await house.startWorker('w', { args: [...(await showing(python)), ...containers, ...mounted] })
}, 25 * 60_000)

afterAll(() => house.close())

/** As a person would: by the command line, with what the program left brought home. */
async function runs({ type, files, input, result }: Case, words: readonly string[], program: readonly string[]) {
  const home = house.path(`home-${type}-${words[0]}`)
  const asked = Object.entries(input).flatMap(([name, value]) => ['--input', `${name}=${JSON.stringify(value)}`])
  const sent = files.flatMap(name => ['--files', house.path(name)])
  const kept = ['--output', 'outputs', '--out', home]
  const { stdout } = await house.stoker(['run', '--json', ...words, ...asked, ...sent, ...kept, ...program])
  const { id } = JSON.parse(stdout) as { id: string }
  const job = await house.client.job(id)
  const said = job.state === 'succeeded' ? '' : await logOf(house.client, id, 'stderr')
  expect({ state: job.state, said }).toEqual({ state: 'succeeded', said: '' })
  expect(job.result).toMatchObject({
    ...result,
    jobType: type,
    device: 'cpu',
    versions: { python: expect.any(String) },
  })
  const { artifacts } = job.result as unknown as { artifacts: { name: string; sha256: string }[] }
  // One that was given nothing only tells what it measured.
  expect(artifacts.length > 0).toBe(files.length > 0)
  for (const { name, sha256 } of artifacts) {
    const content = await readFile(join(home, 'outputs', name))
    expect(createHash('sha256').update(content).digest('hex'), name).toBe(sha256)
  }
  return job
}

describe.concurrent('what it is told comes home with its files', () => {
  it.for(CASES)('$type in the sandbox', { timeout: PATIENCE_MS }, async (one, context) => {
    if ('reason' in environment) return context.skip(environment.reason)
    const main = join(JOBS, one.type.replaceAll('-', '_'), 'main.py')
    const job = await runs(one, ['--isolation', 'sandbox'], ['--', environment.python, '-B', main])
    expect(job.history).toMatchObject([{ isolation: 'sandbox' }])
  })

  const inContainers = CASES.concat({
    type: 'sft',
    files: ['base', 'facts.jsonl'],
    input: { model: 'base', data: FACTS, training: SHORT },
    result: { engine: 'trl', final_model_archive: 'final_model.tar.gz' },
  })
  it.for(inContainers)(
    '$type in a container, with packages mounted from its worker',
    { timeout: PATIENCE_MS },
    async (one, context) => {
      if (typeof engine === 'string') return context.skip(engine)
      const packages = await packagesFor(environment, '/usr/bin/python3')
      if ('reason' in packages) return context.skip(packages.reason)
      const mounted = ['--mount', `${packages.folder}:${SEEN_AT}`, '--env', `PYTHONPATH=${SEEN_AT}`]
      const job = await runs(one, ['--image', IMAGE, '--type', one.type, ...mounted], [])
      expect(job.history).toMatchObject([{ isolation: 'container' }])
    },
  )
})
