import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { removeTree } from '@stoker/files'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { type MlEnvironment, mlEnvironment, showing } from './harness/ml-environment.ts'

const execute = promisify(execFile)
const JOBS = resolve(import.meta.dirname, '..', 'jobs')
const STOKER = resolve(import.meta.dirname, '..', 'cli', 'dist', 'stoker.js')
/** Programs of a worker stand back behind everything else on a busy machine. */
const PATIENCE_MS = 10 * 60_000
/** A pipeline and an encoder of some hundred kilobytes, built from configs. */
const TINY_MODELS = `
import sys
from pathlib import Path
sys.path.append(sys.argv[1])
from sample_data import tiny_bert
from tiny_diffusion import tiny_diffusion
tiny_diffusion(Path(sys.argv[2]) / "sd")
tiny_bert(Path(sys.argv[2]) / "bert")
`
const PNG = '89504e470d0a1a0a'

let environment: MlEnvironment
let models: string
let house: House

beforeAll(async () => {
  environment = await mlEnvironment(['stable_diffusion', 'rag'])
  models = await mkdtemp(join(tmpdir(), 'stoker-models-'))
  if ('reason' in environment) return
  await execute(environment.python, ['-B', '-c', TINY_MODELS, join(JOBS, 'lib'), models])
  await execute('chmod', ['-R', 'a+rX', models])
}, 25 * 60_000)

afterAll(() => removeTree(models))

beforeEach(async () => {
  house = await House.open()
})

afterEach(async () => {
  await house.close()
})

const main = (program: string) => join(JOBS, program, 'main.py')
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')

it(
  'makes pictures in the sandbox with a pipeline that was sent with the job, and brings them home',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    const { python } = environment
    await house.startHub()
    await house.startWorker('w', { args: await showing(python) })
    const asked = { model: 'sd', prompt: 'a red house', steps: 4, num_images: 2, seed: 11, width: 48, height: 32 }
    const input = Object.entries(asked).flatMap(([name, value]) => ['--input', `${name}=${value}`])
    const files = ['--files', `${join(models, 'sd')}:sd`, '--output', 'outputs', '--out', house.path('home')]
    const words = ['--isolation', 'sandbox', ...input, ...files, '--', python, '-B']
    const ran = await house.stoker(['run', '--json', ...words, main('stable_diffusion')])
    const { id, job } = JSON.parse(ran.stdout)
    expect(job).toMatchObject({ state: 'succeeded', reason: null })
    const { result } = await house.client.job(id)
    expect(result).toMatchObject({
      images: ['image-0001.png', 'image-0002.png'],
      pictures: [{ seed: 11 }, { seed: 12 }],
      safetyChecker: null,
      device: expect.stringMatching(/^cpu$|^cuda:/),
    })
    const { artifacts } = result as { artifacts: { name: string; sha256: string }[] }
    const pictures = await Promise.all(artifacts.map(({ name }) => readFile(house.path('home', 'outputs', name))))
    expect(pictures.map(sha256)).toEqual(artifacts.map(one => one.sha256))
    for (const picture of pictures) {
      expect(picture.subarray(0, 8).toString('hex')).toBe(PNG)
      expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([48, 32])
    }
  },
  PATIENCE_MS,
)

it(
  'is a session whose tasks get their pictures in the stream of events',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    const { python } = environment
    await house.startHub()
    await house.startWorker('w', { args: [...(await showing(python)), '--models', models] })
    const command = [python, '-B', main('stable_diffusion')]
    const { id } = await house.client.startSession({
      command,
      isolation: 'sandbox',
      model: { name: 'sd' },
      session: {},
    })
    const seen = []
    for (const seed of [1, 2]) {
      const task = await house.client.sendTask(id, { input: { steps: 2, seed } })
      for await (const event of house.client.events(task.id)) if (event.event === 'artifact') seen.push(event.data)
      expect(await house.client.job(task.id)).toMatchObject({ state: 'succeeded', result: { seed } })
    }
    expect(seen).toMatchObject([
      { name: 'image-0001.png', seed: 1 },
      { name: 'image-0002.png', seed: 2 },
    ])
    for (const data of seen) expect(sha256(Buffer.from(String(data.base64), 'base64'))).toBe(data.sha256)
    await house.client.endSession(id)
  },
  PATIENCE_MS,
)

it(
  'has no mistakes that the check of programs knows, and neither has rag',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    const { python } = environment
    const asked = { model: join(models, 'sd'), steps: 3, seed: 1 }
    const documents = ['a lovely day', 'a dull house']
    const searched = { embedding: join(models, 'bert'), documents, query: 'the house' }
    for (const [program, input] of [
      ['stable_diffusion', asked],
      ['rag', searched],
    ] as const) {
      const words = ['--quiet', '--no-stop', '--timeout', '5m', '--env', `DATA_PATH=${models}`]
      const args = ['program', 'check', ...words, '--input', JSON.stringify(input), '--', python, '-B', main(program)]
      const checked = house.program({ script: STOKER, args, inside: ['env', '-C', house.root] })
      expect(await checked.exited).toMatchObject({ code: 0 })
      expect(checked.stdout).toBe('')
    }
  },
  PATIENCE_MS,
)
