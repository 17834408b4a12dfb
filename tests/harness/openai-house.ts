import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import OpenAI from 'openai'
import type { ChildProgram } from './child-program.ts'
import { House } from './house.ts'

const echo = join(import.meta.dirname, '..', '..', 'jobs', 'echo-chat', 'worker.py')
const odd = join(import.meta.dirname, 'odd-chat.py')

function preset(serves: string, program: string, more: object = {}, session: object = {}) {
  const command = ['python3', '-B', program]
  const resources = { cpus: 0.01, memory: '64MB' }
  return {
    type: 'session',
    serves,
    isolation: 'none',
    command,
    resources,
    session: { queue: 100, ...session },
    ...more,
  }
}

/** A hub with models of every kind, a worker, and the official client with the hub's first token. */
export class OpenAiHouse {
  readonly house: House
  readonly client: OpenAI
  readonly token: string
  readonly worker: ChildProgram

  private constructor(house: House, worker: ChildProgram, token: string) {
    this.house = house
    this.worker = worker
    this.token = token
    this.client = this.clientWith(token)
  }

  static async open(): Promise<OpenAiHouse> {
    const house = await House.open()
    const models = {
      echo: {
        chat: preset('chat', echo, {}, { concurrency: 8 }),
        complete: preset('completion', echo, {}, { concurrency: 8 }),
        embed: preset('embedding', echo, {}, { concurrency: 8 }),
      },
      twins: { a: preset('chat', echo), b: preset('chat', echo) },
      odd: { chat: preset('chat', odd, {}, { concurrency: 4 }) },
      two: { chat: preset('chat', odd, {}, { concurrency: 4, min: 2, max: 2 }) },
      fragile: { chat: preset('chat', odd, {}, { restarts: 3 }) },
      narrow: { chat: preset('chat', odd, {}, { queue: 1 }) },
      cold: { chat: preset('chat', odd, { env_vars: { GATE: house.path('gate') } }) },
      hasty: { chat: preset('chat', odd, { timeout_seconds: 1, env_vars: { GATE: house.path('never') } }) },
      once: { inference: { command: ['true'] } },
    }
    await mkdir(house.path('hub', 'presets'), { recursive: true })
    await writeFile(house.path('hub', 'presets', 'model_presets.yaml'), JSON.stringify({ models }))
    await house.startHub()
    const worker = await house.startWorker('w1', { args: ['--max-jobs', '32'] })
    return new OpenAiHouse(house, worker, (await readFile(house.path('hub', 'admin-token'), 'utf8')).trim())
  }

  clientWith(apiKey: string): OpenAI {
    return new OpenAI({ baseURL: `${this.house.url}/v1`, apiKey, maxRetries: 0 })
  }

  chat(model: string, content: string, more: object = {}) {
    return this.client.chat.completions.create({ model, messages: [{ role: 'user', content }], ...more })
  }

  chatStream(model: string, content: string, more: object = {}) {
    return this.client.chat.completions.create({ model, messages: [{ role: 'user', content }], stream: true, ...more })
  }

  post(path: string, body: unknown): Promise<Response> {
    return fetch(`${this.house.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }
}
