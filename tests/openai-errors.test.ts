import { writeFile } from 'node:fs/promises'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { OpenAiHouse } from './harness/openai-house.ts'

const PATIENT = { timeout: 15_000 }

let served: OpenAiHouse
beforeAll(async () => {
  served = await OpenAiHouse.open()
})
afterAll(() => served.house.close())

test('a wrong key', async () => {
  const stranger = served.clientWith('stk_wrong')
  const error = await failure(stranger.models.list())
  expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
  expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' })
  const { secret } = await served.house.client.createToken({ role: 'read' })
  const reader = served.clientWith(secret)
  await expect(reader.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
})

test.each([
  ['ecco', 'did you mean "echo"'],
  ['twins', 'name one: twins/a, twins/b'],
  ['echo/embed', 'serves embedding, and was asked for chat'],
  ['once', 'does not exist'],
])('the model %s is not found: %s', async (model, hint) => {
  const error = await failure(served.chat(model, 'hi'))
  expect(error).toBeInstanceOf(OpenAI.NotFoundError)
  expect(error).toMatchObject({
    code: 'model_not_found',
    param: 'model',
    message: expect.stringContaining(hint),
  })
})

test.each([
  [{ temperature: 'hot' }, 'temperature'],
  [{ n: 9 }, 'n'],
  [{ messages: [] }, 'messages'],
  [{ messages: undefined }, 'messages'],
  [{ messages: [{ role: 'user', content: 5 }] }, 'messages.0.content'],
  [{ stream: 'yes' }, 'stream'],
  [{ stream_options: { include_usage: true } }, 'stream_options'],
])('%o is refused by the name of its parameter', async (more, param) => {
  const error = await failure(served.chat('echo', 'hi', more))
  expect(error).toBeInstanceOf(OpenAI.BadRequestError)
  expect(error).toMatchObject({ param, type: 'invalid_request_error' })
})

test('a body that is too large, no JSON, or for no route', async () => {
  await expect(served.chat('echo', 'y'.repeat(300_000))).rejects.toMatchObject({ status: 413 })
  expect((await served.post('chat/completions', '{')).status).toBe(400)
  const lost = await served.post('images/generations', {})
  expect([lost.status, await lost.json()]).toMatchObject([404, { error: { type: 'invalid_request_error' } }])
})

test('a program that fails says why, before a stream begins', async () => {
  for (const asked of [() => served.chat('odd', 'fail'), () => served.chatStream('odd', 'fail')]) {
    const error = await failure(asked())
    expect(error).toBeInstanceOf(OpenAI.InternalServerError)
    expect(error).toMatchObject({ status: 500, message: expect.stringContaining('does not like this') })
  }
})

test('a crash in the middle is a clean error, and the next request is answered', async () => {
  const pieces: string[] = []
  const stream = await served.chatStream('fragile', 'crash')
  const reading = (async () => {
    for await (const { choices } of stream) pieces.push(choices[0]?.delta.content ?? '')
  })()
  await expect(reading).rejects.toMatchObject({ code: 'program_died', message: expect.stringContaining('code 3') })
  expect(pieces).toEqual(['', 'half an ans'])
  await expect(served.chat('fragile', 'crash')).rejects.toMatchObject({ status: 502 })
  expect((await served.chat('fragile', 'whole and well')).choices[0]?.message.content).toBe('and well')
})

test('a full queue is told with the time to come again', async () => {
  const gate = served.house.path('narrow')
  const [held, waiting] = [served.chat('narrow', `hold ${gate}`), served.chat('narrow', `hold ${gate}`)]
  await vi.waitFor(async () => {
    const { jobs } = await served.house.client.jobs({ type: 'task', state: ['queued', 'active'] })
    expect(jobs.filter(({ name }) => name === 'narrow/chat')).toHaveLength(2)
  }, PATIENT)
  const error = await failure(served.chat('narrow', 'whole more'))
  expect(error).toBeInstanceOf(OpenAI.RateLimitError)
  expect(error).toMatchObject({ code: 'queue_full' })
  const refused = await served.post('chat/completions', { model: 'narrow', messages: [{ role: 'user', content: 'x' }] })
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  await writeFile(gate, '')
  for (const { choices } of await Promise.all([held, waiting])) expect(choices[0]?.message.content).toBe('holding')
})

async function failure(asked: Promise<unknown>): Promise<unknown> {
  return asked.then(
    () => new Error('it was answered'),
    error => error,
  )
}
