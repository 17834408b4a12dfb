import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { House } from './harness/house.ts'
import { ended } from './harness/jobs.ts'
import { type MlEnvironment, mlEnvironment, showing } from './harness/ml-environment.ts'

const run = promisify(execFile)
const JOBS = join(resolve(import.meta.dirname, '..'), 'jobs')
/** Programs of a worker stand back behind everything else on a busy machine, and a session first loads PyTorch. */
const PATIENCE_MS = 10 * 60_000
const ASKED = [{ role: 'user', content: 'hello' }] as const
const SHORT = { temperature: 0, max_tokens: 16 }
const TOKENS_OF_AN_HOUR = 90_000
/** The token by which the tiny model would end its answer. */
const END = 2
/** A tiny model, and what transformers itself answers with it. */
const PREPARE = `
import json, sys
from pathlib import Path
sys.path.append(sys.argv[1])
from sample_language import direct, tiny_llama
folder = tiny_llama(Path(sys.argv[2]), window=100_000)
for file in folder.iterdir():
    file.chmod(0o644)
tokens, text = direct(folder, "user: hello\\nassistant: ", max_new_tokens=16, do_sample=False)
print(json.dumps({"text": text, "tokens": len(tokens)}))
`

let environment: MlEnvironment
let house: House
let client: OpenAI
let wanted: { readonly text: string; readonly tokens: number }

beforeAll(async () => {
  environment = await mlEnvironment(['inference'])
  house = await House.open()
  if ('python' in environment) await serve(environment.python)
}, 25 * 60_000)

afterAll(() => house.close())

async function serve(python: string): Promise<void> {
  await mkdir(house.path('models'))
  const { stdout } = await run(python, ['-B', '-c', PREPARE, join(JOBS, 'lib'), house.path('models', 'tiny')])
  wanted = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  const preset = (serves: string) => ({
    type: 'session',
    serves,
    isolation: 'sandbox',
    command: [python, '-B', join(JOBS, 'inference', 'main.py')],
    model: { path: house.path('models', 'tiny') },
    resources: { cpus: 1 },
    timeout_seconds: 600,
    session: { queue: 16 },
  })
  await mkdir(house.path('hub', 'presets'), { recursive: true })
  const models = { tiny: { chat: preset('chat'), embed: preset('embedding') } }
  await writeFile(house.path('hub', 'presets', 'model_presets.yaml'), JSON.stringify({ models }))
  await house.startHub()
  const visible = await showing(python)
  await house.startWorker('w', { args: ['--models', house.path('models'), ...visible] })
  const apiKey = (await readFile(house.path('hub', 'admin-token'), 'utf8')).trim()
  client = new OpenAI({ baseURL: `${house.url}/v1`, apiKey, maxRetries: 0, timeout: PATIENCE_MS })
}

test(
  'a chat is answered by the model that stays loaded, in pieces and as a whole',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    const asked = { model: 'tiny', messages: [...ASKED], ...SHORT }
    const pieces: string[] = []
    let usage: OpenAI.CompletionUsage | null | undefined
    const more = { stream: true, stream_options: { include_usage: true } } as const
    for await (const chunk of await client.chat.completions.create({ ...asked, ...more })) {
      pieces.push(chunk.choices[0]?.delta.content ?? '')
      usage = chunk.usage ?? usage
    }
    expect(pieces.filter(piece => piece !== '').length).toBeGreaterThan(2)
    expect(pieces.join('')).toBe(wanted.text)
    const used = { prompt_tokens: 23, completion_tokens: wanted.tokens, total_tokens: 23 + wanted.tokens }
    expect(usage).toEqual(used)
    expect(await client.chat.completions.create(asked)).toMatchObject({
      choices: [{ finish_reason: 'length', message: { content: wanted.text } }],
      usage: used,
    })
    const { jobs } = await house.client.jobs({ type: 'task' })
    const results = await Promise.all(jobs.map(async ({ id }) => (await house.client.job(id)).result))
    expect(results).toEqual([1, 2].map(() => expect.objectContaining({ model: 'tiny', engine: 'transformers' })))
  },
  PATIENCE_MS,
)

test(
  'texts become vectors of length one',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    const { data } = await client.embeddings.create({ model: 'tiny', input: ['hello', 'hello', 'something else'] })
    const [first, same, other] = data.map(({ embedding }) => embedding)
    expect(first).toHaveLength(32)
    expect(Math.hypot(...(first ?? []))).toBeCloseTo(1, 4)
    expect(first?.every((value, at) => Math.abs(value - (same?.[at] ?? 9)) < 1e-5)).toBe(true)
    expect(first?.some((value, at) => Math.abs(value - (other?.[at] ?? 9)) > 1e-3)).toBe(true)
  },
  PATIENCE_MS,
)

test(
  'an answer that nobody wants any more stops in the middle',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    const asked = { model: 'tiny', messages: [...ASKED], max_tokens: TOKENS_OF_AN_HOUR, logit_bias: { [END]: -100 } }
    const stream = await client.chat.completions.create({ ...asked, stream: true })
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
    const [task] = (await house.client.jobs({ type: 'task', state: ['active'] })).jobs
    await house.client.cancel(task?.id ?? '')
    expect(await ended(house.client, task?.id ?? '')).toMatchObject({ state: 'canceled' })
  },
  PATIENCE_MS,
)
