import { z } from 'zod'
import type { DescribedRoute } from '../../serving/described-route.ts'
import { ChatBody, CompletionBody, EmbeddingBody } from './bodies.ts'

const ErrorBody = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
})

const common = { tag: 'openai', security: 'token', error: ErrorBody } as const
const json = { ...common, answers: ['application/json'] } as const
const text = { ...common, answers: ['application/json', 'text/event-stream'] } as const

/** The routes of the endpoint, behind its prefix; what answers look like is OpenAI's to say. */
export const OPENAI_ROUTES: readonly DescribedRoute[] = [
  { ...json, method: 'get', path: '/models', summary: 'List the models that presets serve' },
  { ...json, method: 'get', path: '/models/{id}', summary: 'Show a model' },
  {
    ...text,
    method: 'post',
    path: '/chat/completions',
    body: ChatBody,
    summary: 'Text for messages, whole or as a stream',
  },
  {
    ...text,
    method: 'post',
    path: '/completions',
    body: CompletionBody,
    summary: 'Text for prompts, whole or as a stream',
  },
  { ...json, method: 'post', path: '/embeddings', body: EmbeddingBody, summary: 'Vectors for texts' },
]
