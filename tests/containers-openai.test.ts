import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { containersOf } from './harness/engine-api.ts'
import { sharedEngine } from './harness/engine-shared.ts'
import { House } from './harness/house.ts'
import { buildFolder } from './harness/program-folders.ts'

const ECHO = fileURLToPath(new URL('../jobs/echo-chat', import.meta.url))
const MODELS = {
  echo: {
    chat: {
      type: 'session',
      serves: 'chat',
      docker_image: 'echo-chat:latest',
      resources: { gpus: 0, cpus: 0.1 },
      session: { concurrency: 4, queue: 20 },
    },
  },
}
const engine = await sharedEngine('docker')

if (typeof engine === 'string') it('containers behind /v1 are not tried here', context => context.skip(engine))
else
  describe('a model in a container', () => {
    const { socket } = engine
    let house: House
    let client: OpenAI

    beforeAll(async () => {
      await buildFolder(ECHO, socket)
      house = await House.open()
      await mkdir(house.path('hub', 'presets'), { recursive: true })
      await writeFile(house.path('hub', 'presets', 'model_presets.yaml'), JSON.stringify({ models: MODELS }))
      await house.startHub()
      await house.startWorker('w', { args: ['--engine', socket, '--no-pull'] })
      const apiKey = (await readFile(house.path('hub', 'admin-token'), 'utf8')).trim()
      client = new OpenAI({ baseURL: `${house.url}/v1`, apiKey, maxRetries: 0 })
    })
    afterAll(() => house.close())

    async function live() {
      const { sessions } = await house.client.sessions({ preset: 'echo/chat' })
      return sessions.filter(({ state }) => state !== 'ended')
    }

    async function ours(): Promise<readonly string[]> {
      const containers = await containersOf(socket)
      return containers.filter(one => one.Labels['stoker.attempt'] !== undefined).map(one => one.Id)
    }

    const asked = (content: string) => ({ model: 'echo', messages: [{ role: 'user' as const, content }] })

    it('answers the official client, whole, in pieces, and several at once, from one container', async () => {
      const whole = await client.chat.completions.create(asked('hello big world'))
      expect(whole.choices[0]?.message.content).toBe('hello big world')
      const pieces: string[] = []
      for await (const { choices } of await client.chat.completions.create({ ...asked('a b c'), stream: true }))
        pieces.push(choices[0]?.delta.content ?? '')
      expect(pieces).toEqual(['', 'a', ' b', ' c', ''])
      const words = ['one', 'two', 'three', 'four', 'five', 'six']
      const answers = await Promise.all(words.map(word => client.chat.completions.create(asked(`${word} more`))))
      expect(answers.map(({ choices }) => choices[0]?.message.content)).toEqual(words.map(word => `${word} more`))
      const [session] = await live()
      const { history } = await house.client.job(session?.id ?? '')
      expect(history).toMatchObject([{ isolation: 'container', containerId: expect.stringMatching(/^[0-9a-f]{64}$/) }])
      expect(await ours()).toEqual([history[0]?.containerId])
      await house.client.endSession(session?.id ?? '')
      await expect.poll(ours, { timeout: 30_000 }).toEqual([])
    })
  })
