import type { Answer, TokenUse } from './answer.ts'

/** What every answer to one request has in common. */
export interface Envelope {
  readonly id: string
  readonly created: number
  /** As the client named it. */
  readonly model: string
}

/** How text is given back in one of the two dialects of the endpoint. */
export interface TextShape {
  readonly idPrefix: string
  readonly object: string
  readonly chunkObject: string
  readonly choice: (index: number, answer: Answer) => object
  /** Said before the first piece; null where nothing is. */
  readonly opening: ((index: number) => object) | null
  readonly piece: (index: number, text: string) => object
  /** What only the end tells, before the reason is said; null for nothing. */
  readonly extra: (index: number, answer: Answer) => object | null
  readonly closing: (index: number, answer: Answer) => object
}

const OPEN = { logprobs: null, finish_reason: null }

export const CHAT: TextShape = {
  idPrefix: 'chatcmpl-',
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  choice: (index, answer) => {
    const { toolCalls, text, finishReason } = answer
    const content = toolCalls !== null && text === '' ? null : text
    const message = { role: 'assistant', content, refusal: null, ...(toolCalls !== null && { tool_calls: toolCalls }) }
    return { index, message, logprobs: null, finish_reason: finishReason }
  },
  opening: index => ({ index, delta: { role: 'assistant', content: '' }, ...OPEN }),
  piece: (index, text) => ({ index, delta: { content: text }, ...OPEN }),
  extra: (index, { toolCalls }) =>
    toolCalls === null
      ? null
      : { index, delta: { tool_calls: toolCalls.map((call, at) => ({ index: at, ...call })) }, ...OPEN },
  closing: (index, { finishReason }) => ({ index, delta: {}, logprobs: null, finish_reason: finishReason }),
}

export const COMPLETION: TextShape = {
  idPrefix: 'cmpl-',
  object: 'text_completion',
  chunkObject: 'text_completion',
  choice: (index, { text, finishReason }) => ({ text, index, logprobs: null, finish_reason: finishReason }),
  opening: null,
  piece: (index, text) => ({ text, index, ...OPEN }),
  extra: () => null,
  closing: (index, { finishReason }) => ({ text: '', index, logprobs: null, finish_reason: finishReason }),
}

/** Of all tasks of a request together; null if one of them did not say. */
export function usageOf(answers: readonly Answer[]): TokenUse | null {
  let sum = { prompt: 0, completion: 0 }
  for (const { usage } of answers) {
    if (usage === null) return null
    sum = { prompt: sum.prompt + usage.prompt, completion: sum.completion + usage.completion }
  }
  return sum
}

export function usageBody({ prompt, completion }: TokenUse) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

/** What the program did not count is left out: nobody else knows it. */
export function wholeAnswer(shape: TextShape, { id, created, model }: Envelope, answers: readonly Answer[]) {
  const usage = usageOf(answers)
  return {
    id,
    object: shape.object,
    created,
    model,
    choices: answers.map((answer, index) => shape.choice(index, answer)),
    ...(usage !== null && { usage: usageBody(usage) }),
  }
}
