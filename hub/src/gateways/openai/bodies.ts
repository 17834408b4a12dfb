import { z } from 'zod'
import { invalidRequest } from './api-error.ts'

/** Choices of one request: each is a task of its own. */
const MOST_CHOICES = 8
const MOST_PROMPTS = 128
const MOST_INPUTS = 2048

const text = z.string().min(1)
const count = z.int().min(1)
/** A null is how some clients leave a parameter out. */
const shared = {
  model: text,
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: count.max(MOST_CHOICES).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: count.nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  user: z.string().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
}

/** What is not named here is passed on as it is: the program may know it. */
export const ChatBody = z.looseObject({
  ...shared,
  messages: z
    .array(
      z.looseObject({ role: text, content: z.union([z.string(), z.array(z.looseObject({ type: text }))]).nullish() }),
    )
    .min(1),
  max_completion_tokens: count.nullish(),
  tools: z.array(z.looseObject({ type: text })).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
  response_format: z.looseObject({ type: text }).nullish(),
})

const tokens = z.array(z.int().min(0)).min(1)

export const CompletionBody = z.looseObject({
  ...shared,
  prompt: z.union([
    z.string(),
    z.array(z.string()).min(1).max(MOST_PROMPTS),
    tokens,
    z.array(tokens).min(1).max(MOST_PROMPTS),
  ]),
})

export const EmbeddingBody = z.looseObject({
  model: text,
  input: z.union([text, z.array(text).min(1).max(MOST_INPUTS), tokens, z.array(tokens).min(1).max(MOST_INPUTS)]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: count.nullish(),
  user: z.string().nullish(),
})

/** The first thing that is wrong, with the name of its parameter. */
export function readBody<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidRequest('the body should be a JSON object', null)
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = (issue?.path ?? []).map(String)
  const param = path.join('.')
  if (path.length === 1 && !Object.hasOwn(body, param))
    throw invalidRequest(`missing required parameter: ${param}`, param)
  throw invalidRequest(`${param}: ${messageOf(issue)}`, param)
}

/** Of a value with several forms the form it came nearest to is told. */
function messageOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code !== 'invalid_union') return issue?.message ?? 'is not understood'
  const deepest = issue.errors.flat().sort((a, b) => b.path.length - a.path.length)[0]
  return deepest === undefined
    ? issue.message
    : `${deepest.path.length > 0 ? `[${deepest.path.join('.')}] ` : ''}${deepest.message}`
}

/** A single prompt or input as a list of one; a list of numbers is one text in tokens. */
export function listOf(value: string | readonly (string | number | readonly number[])[]): readonly unknown[] {
  if (typeof value === 'string') return [value]
  return value.every(one => typeof one === 'number') ? [value] : value
}
