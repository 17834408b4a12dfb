import { expect, test } from 'vitest'
import { Answer } from './answer.ts'

function answered(
  ...events: [name: 'text' | 'text_delta' | 'finish' | 'logs', fields: Record<string, unknown>][]
): Answer {
  const answer = new Answer()
  for (const [event, fields] of events) answer.hear({ event, fields })
  return answer
}

test('pieces are told one by one, and are the text unless a whole one is said', () => {
  const answer = new Answer()
  expect(answer.hear({ event: 'text_delta', fields: { delta: 'a ' } })).toBe('a ')
  expect(answer.hear({ event: 'logs', fields: { log: 'x' } })).toBeNull()
  answer.hear({ event: 'text_delta', fields: { delta: 'b' } })
  expect(answer.text).toBe('a b')
  answer.hear({ event: 'text', fields: { content: 'A B' } })
  expect([answer.text, answer.hasDeltas]).toEqual(['A B', true])
})

test('what a program says of its answer is taken where it makes sense, and nothing is made up', () => {
  const good = answered([
    'finish',
    { result: { usage: { prompt_tokens: 2, completion_tokens: 3 }, finish_reason: 'length' } },
  ])
  expect([good.usage, good.finishReason]).toEqual([{ prompt: 2, completion: 3 }, 'length'])
  const odd = answered([
    'finish',
    { result: { usage: { prompt_tokens: -1 }, finish_reason: 7, tool_calls: 'x', embeddings: [['a']] } },
  ])
  expect([odd.usage, odd.finishReason, odd.toolCalls, odd.embeddings]).toEqual([null, 'stop', null, []])
  expect(answered(['finish', { result: 'done' }]).usage).toBeNull()
  expect(answered(['finish', { result: { tool_calls: [{ id: 'c' }] } }]).finishReason).toBe('tool_calls')
})

test('a failed finish tells its error, or at least that there was one', () => {
  expect(answered(['finish', { status: 'failed', error: 'no', message: 'm' }]).failure).toBe('no')
  expect(answered(['finish', { status: 'failed', message: 'm' }]).failure).toBe('m')
  expect(answered(['finish', { status: 'failed' }]).failure).toBe('the program gave no reason')
  expect(answered(['finish', { status: 'completed' }]).failure).toBeNull()
})
