import { writeFile } from 'node:fs/promises'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { OpenAiHouse } from './harness/openai-house.ts'

const PATIENT = { timeout: 15_000 }
const Document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

let served: OpenAiHouse
beforeAll(async () => {
  served = await OpenAiHouse.open()
})
afterAll(() => served.house.close())

async function tasks(state: 'queued' | 'active') {
  return (await served.house.client.jobs({ state: [state], type: 'task' })).jobs
}

describe('chat', () => {
  test('is answered whole, with what the program says it used', async () => {
    const answer = await served.chat('echo', 'hello big world')
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'echo',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hello big world' } }],
      usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
    })
    expect(answer.id).toMatch(/^chatcmpl-/)
    expect((await served.chat('echo/chat', 'one two three', { max_tokens: 2 })).choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: 'one two' },
    })
  })

  test('streams each piece, the role first and the reason last', async () => {
    const chunks = []
    for await (const chunk of await served.chatStream('echo', 'hello big world', {
      stream_options: { include_usage: true },
    }))
      chunks.push(chunk)
    const deltas = chunks.map(({ choices: [choice] }) => choice?.delta)
    expect(deltas[0]).toEqual({ role: 'assistant', content: '' })
    expect(deltas.slice(1, 4).map(delta => delta?.content)).toEqual(['hello', ' big', ' world'])
    expect(chunks[4]?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' })
    expect(chunks[5]).toMatchObject({ choices: [], usage: { total_tokens: 6 } })
    expect(chunks.slice(0, 5).every(({ usage }) => usage === null)).toBe(true)
    expect(chunks).toHaveLength(6)
  })

  test('the helper of the client gathers a stream', async () => {
    const stream = served.client.chat.completions.stream({
      model: 'echo',
      messages: [{ role: 'user', content: 'a b c' }],
    })
    expect(await stream.finalContent()).toBe('a b c')
  })

  test('gives as many choices as asked for', async () => {
    const { choices } = await served.chat('echo', 'same again', { n: 3 })
    expect(choices.map(({ index, message }) => [index, message.content])).toEqual([0, 1, 2].map(i => [i, 'same again']))
    const texts = ['', '']
    for await (const {
      choices: [choice],
    } of await served.chatStream('echo', 'both of them', { n: 2 }))
      if (choice) texts[choice.index] += choice.delta.content ?? ''
    expect(texts).toEqual(['both of them', 'both of them'])
  })

  test('a program may answer in one piece, and need not count', async () => {
    expect(await served.chat('odd', 'whole answer at once')).not.toHaveProperty('usage')
    const pieces = []
    for await (const { choices } of await served.chatStream('odd', 'whole answer at once'))
      pieces.push(choices[0]?.delta.content ?? '')
    expect(pieces).toEqual(['', 'answer at once', ''])
  })

  test('calls of tools come through, whole and in streams', async () => {
    const { choices } = await served.chat('odd', 'tool weather')
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: 'weather' } })
    const stream = served.client.chat.completions.stream({
      model: 'odd',
      messages: [{ role: 'user', content: 'tool rain' }],
    })
    expect((await stream.finalMessage()).tool_calls?.[0]).toMatchObject({ function: { name: 'rain' } })
  })

  test('parameters that only the program knows are passed on', async () => {
    expect((await served.chat('odd', 'top_k', { top_k: 40 })).choices[0]?.message.content).toBe('40')
  })

  test('a long request opens a session and is read whole', async () => {
    const long = 'x'.repeat(200_000)
    expect((await served.chat('fragile', `size ${long}`)).choices[0]?.message.content).toBe('200000')
  })
})

test('completions take prompts as one or as many, whole and in streams', async () => {
  const { choices, object } = await served.client.completions.create({ model: 'echo', prompt: ['a b', 'c'], n: 2 })
  expect([object, ...choices.map(({ text }) => text)]).toEqual(['text_completion', 'a b', 'a b', 'c', 'c'])
  let text = ''
  for await (const {
    choices: [choice],
  } of await served.client.completions.create({
    model: 'echo/complete',
    prompt: 'to be repeated',
    stream: true,
  }))
    text += choice?.text
  expect(text).toBe('to be repeated')
})

test('embeddings are the same in both encodings, in the order of a long list', async () => {
  const input = Array.from({ length: 40 }, (_, i) => `text number ${i}`)
  const ask = (encoding_format?: 'float' | 'base64') =>
    served.client.embeddings.create({
      model: 'echo',
      input,
      dimensions: 32,
      ...(encoding_format && { encoding_format }),
    })
  const [plain, coded] = await Promise.all([ask('float'), ask()])
  expect(plain.usage).toEqual({ prompt_tokens: 120, total_tokens: 120 })
  expect(plain.data.map(({ index }) => index)).toEqual(input.map((_, i) => i))
  const single = await served.client.embeddings.create({
    model: 'echo',
    input: input[33] ?? '',
    dimensions: 32,
    encoding_format: 'float',
  })
  expect(plain.data[33]?.embedding).toEqual(single.data[0]?.embedding)
  expect(plain.data[33]?.embedding).toHaveLength(32)
  for (const [i, { embedding }] of plain.data.entries())
    expect(coded.data[i]?.embedding).toEqual(embedding.map(value => Math.fround(value)))
  const raw = await served.post('embeddings', { model: 'echo', input: 'a', encoding_format: 'base64' })
  expect(await raw.json()).toMatchObject({ data: [{ embedding: expect.any(String) }] })
})

test('models are listed by their short and full names, each once', async () => {
  const ids = []
  for await (const { id, object, owned_by } of served.client.models.list()) {
    expect({ object, owned_by }).toEqual({ object: 'model', owned_by: 'stoker' })
    ids.push(id)
  }
  expect(ids).toEqual(
    expect.arrayContaining(['echo', 'echo/chat', 'echo/complete', 'echo/embed', 'twins/a', 'twins/b']),
  )
  expect(ids).not.toContain('twins')
  expect(ids).not.toContain('once')
  expect(new Set(ids).size).toBe(ids.length)
  expect((await served.client.models.retrieve('echo/chat')).id).toBe('echo/chat')
  await expect(served.client.models.retrieve('ecko')).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('"echo"'),
  })
})

test('fifty requests at once are shared out over both sessions, and each gets its own answer', async () => {
  await vi.waitFor(async () => {
    const { sessions } = await served.house.client.sessions({ preset: 'two/chat' })
    expect(sessions.filter(({ state }) => state === 'waiting')).toHaveLength(2)
  }, PATIENT)
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => served.chat('two', `where ${i}`)))
  const texts = answers.map(({ choices }) => choices[0]?.message.content?.split(' ') ?? [])
  expect(texts.map(([, i]) => Number(i))).toEqual(answers.map((_, i) => i))
  expect(new Set(texts.map(([session]) => session)).size).toBe(2)
})

test('while a session starts a stream says so, and is answered when it is up', async () => {
  const response = await served.post('chat/completions', {
    model: 'cold',
    stream: true,
    messages: [{ role: 'user', content: 'whole at last' }],
  })
  expect(response.status).toBe(200)
  let text = ''
  for await (const piece of response.body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(piece).toString()
    if (text === ': starting\n\n') await writeFile(served.house.path('gate'), '')
  }
  expect(text).toMatch(/^: starting\n\n/)
  expect(text).toContain('"content":"at last"')
  expect(text).toMatch(/data: \[DONE\]\n\n$/)
})

test('a task that is not answered in the time of its preset ends, and so does the wait for it', async () => {
  await expect(served.chat('hasty', 'whole x')).rejects.toMatchObject({
    status: expect.toSatisfy(is => is === 503 || is === 504),
  })
})

test('who leaves gives up what waits, and what runs goes on', async () => {
  const ask = (signal: AbortSignal) => {
    const body = {
      model: 'twins/a',
      messages: [{ role: 'user' as const, content: 'so many words' }],
      pause_seconds: 0.2,
    }
    return expect(served.client.chat.completions.create(body, { signal })).rejects.toBeInstanceOf(
      OpenAI.APIUserAbortError,
    )
  }
  const leaving = new AbortController()
  const first = ask(leaving.signal)
  const [running] = await vi.waitFor(async () => expectOne(await tasks('active')), PATIENT)
  const second = ask(leaving.signal)
  const [waiting] = await vi.waitFor(async () => expectOne(await tasks('queued')), PATIENT)
  leaving.abort()
  await Promise.all([first, second])
  await vi.waitFor(async () => {
    expect(await served.house.client.job(waiting.id)).toMatchObject({
      state: 'canceled',
      reason: expect.stringContaining('left'),
    })
    expect((await served.house.client.job(running.id)).state).toBe('succeeded')
  }, PATIENT)
})

test('the document of the hub names the routes of both services, and each of them is there', async () => {
  const { paths } = Document.parse(await (await fetch(`${served.house.url}/openapi.json`)).json())
  const routes = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/') || path.startsWith('/gpu/'))
    .flatMap(([path, methods]) => Object.keys(methods).map(method => [method.toUpperCase(), path] as const))
  expect(routes).toHaveLength(19)
  for (const [method, path] of routes) {
    const response = await fetch(served.house.url + path.replace('{id}', 'x'), { method })
    expect([method, path, await response.text()].join()).not.toMatch(/no such route|"Not Found"/)
  }
  expect(paths['/v1/chat/completions']?.post).toMatchObject({
    requestBody: { content: { 'application/json': { schema: { required: ['model', 'messages'] } } } },
  })
})

test('tokens are counted by owner and model', async () => {
  const text = await (
    await fetch(`${served.house.url}/metrics`, { headers: { authorization: `Bearer ${served.token}` } })
  ).text()
  expect(text).toMatch(/stoker_model_tokens_total\{owner="admin",model="echo\/chat",direction="in"\} [1-9]/)
  expect(text).toMatch(/stoker_model_tokens_total\{owner="admin",model="echo\/chat",direction="out"\} [1-9]/)
  expect(text).toMatch(/stoker_model_uncounted_tasks_total\{owner="admin",model="odd\/chat"\} [1-9]/)
})

function expectOne<T>(list: readonly T[]): readonly [T] {
  const [only] = list
  if (only === undefined || list.length > 1) throw new Error(`there should be one, there are ${list.length}`)
  return [only]
}
