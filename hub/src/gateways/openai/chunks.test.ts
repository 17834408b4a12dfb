import { expect, test } from 'vitest'
import { Answer } from './answer.ts'
import { ApiError } from './api-error.ts'
import { chunks } from './chunks.ts'
import type { ExchangeNews } from './exchange.ts'
import { CHAT } from './shapes.ts'

const envelope = { id: 'i', created: 1, model: 'm' }

async function streamed(news: AsyncGenerator<ExchangeNews, void>, failed: (error: unknown) => void = () => {}) {
  let text = ''
  for await (const piece of chunks(CHAT, envelope, news, { hasUsage: false, failed })) text += piece
  return text.split('\n\n').slice(0, -1)
}

test('comments keep a quiet stream alive, and say whether anything has come', async () => {
  const lines = await streamed(
    (async function* (): AsyncGenerator<ExchangeNews, void> {
      yield { kind: 'quiet' }
      yield { kind: 'delta', index: 0, text: 'a' }
      yield { kind: 'quiet' }
      yield { kind: 'end', index: 0, answer: new Answer() }
    })(),
  )
  expect([lines[0], lines[3], lines.at(-1)]).toEqual([': starting', ': working', 'data: [DONE]'])
})

test('an error is the last thing a stream says, and no end is told', async () => {
  const broken = async function* (error: Error): AsyncGenerator<ExchangeNews, void> {
    yield { kind: 'delta', index: 0, text: 'a' }
    throw error
  }
  const told = await streamed(broken(new ApiError(502, 'gone', { type: 'server_error', code: 'program_died' })))
  expect(told.at(-1)).toBe(
    'data: {"error":{"message":"gone","type":"server_error","param":null,"code":"program_died"}}',
  )
  const bugs: unknown[] = []
  const bug = new Error('with a secret in it')
  expect((await streamed(broken(bug), error => bugs.push(error))).at(-1)).not.toContain('secret')
  expect(bugs).toEqual([bug])
})
