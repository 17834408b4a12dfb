import { expect, test } from 'vitest'
import type { z } from 'zod'
import { ChatBody, CompletionBody, EmbeddingBody, listOf, readBody } from './bodies.ts'

const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }

test('what is not known is kept, and a null is as if it were not there', () => {
  const body = { ...chat, top_k: 3, stream: null, messages: [{ role: 'tool', content: null, tool_call_id: 'c' }] }
  expect(readBody(ChatBody, body)).toEqual(body)
})

test.each([
  [ChatBody, [], null, 'should be a JSON object'],
  [ChatBody, { messages: [] }, 'model', 'missing required parameter: model'],
  [ChatBody, { ...chat, messages: [{ content: 'x' }] }, 'messages.0.role', 'expected string'],
  [ChatBody, { ...chat, max_tokens: 1.5 }, 'max_tokens', 'expected int'],
  [ChatBody, { ...chat, tools: {} }, 'tools', 'expected array'],
  [CompletionBody, { model: 'm', prompt: [] }, 'prompt', ''],
  [CompletionBody, { model: 'm', prompt: [1, 'a'] }, 'prompt', ''],
  [EmbeddingBody, { model: 'm', input: '' }, 'input', ''],
  [EmbeddingBody, { model: 'm', input: 'a', encoding_format: 'hex' }, 'encoding_format', 'float'],
] as const satisfies [z.ZodType, unknown, string | null, string][])(
  '%#: refused by name',
  (schema, body, param, why) => {
    expect(() => readBody<z.ZodType>(schema, body)).toThrow(
      expect.objectContaining({ status: 400, param, message: expect.stringContaining(why) }),
    )
  },
)

test('texts and tokens, one or many, are a list', () => {
  expect(listOf('a')).toEqual(['a'])
  expect(listOf(['a', 'b'])).toEqual(['a', 'b'])
  expect(listOf([1, 2])).toEqual([[1, 2]])
  expect(listOf([[1], [2]])).toEqual([[1], [2]])
})
