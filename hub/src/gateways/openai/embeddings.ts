import type { FastifyInstance } from 'fastify'
import type { Answer } from './answer.ts'
import { ApiError } from './api-error.ts'
import { bearerOf } from './bearer.ts'
import { EmbeddingBody, listOf, readBody } from './bodies.ts'
import type { Desk } from './desk.ts'
import { usageOf } from './shapes.ts'

/** Texts of one task: their vectors fit the longest line of a program, and a long list is shared out over sessions. */
const INPUTS_A_TASK = 16

/** Vectors for texts, in the order of the texts. */
export function addEmbeddingRoute(service: FastifyInstance, desk: Desk): void {
  service.post('/embeddings', async (request, reply) => {
    const { owner } = await bearerOf(desk.context, request)
    const body = readBody(EmbeddingBody, request.body)
    const inputs = inPortions(listOf(body.input))
    const wish = {
      owner,
      model: body.model,
      kind: 'embedding' as const,
      inputs: inputs.map(input => ({ ...body, input })),
    }
    const { exchange } = await desk.open(reply, wish)
    const answers = await exchange.answers()
    const vectors = answers.flatMap((answer, at) => vectorsOf(answer, inputs[at]?.length ?? 0))
    const format = body.encoding_format === 'base64' ? asBase64 : asFloats
    const usage = usageOf(answers)
    return {
      object: 'list',
      data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: format(vector) })),
      model: body.model,
      ...(usage !== null && { usage: { prompt_tokens: usage.prompt, total_tokens: usage.prompt + usage.completion } }),
    }
  })
}

function inPortions(inputs: readonly unknown[]): readonly (readonly unknown[])[] {
  const count = Math.ceil(inputs.length / INPUTS_A_TASK)
  return Array.from({ length: count }, (_, i) => inputs.slice(i * INPUTS_A_TASK, (i + 1) * INPUTS_A_TASK))
}

type Vector = readonly number[] | string

function vectorsOf({ embeddings }: Answer, asked: number): readonly Vector[] {
  if (embeddings.length === asked) return embeddings
  throw new ApiError(502, `the program gave ${embeddings.length} embeddings for ${asked} inputs`, {
    type: 'server_error',
  })
}

/** Programs give lists of numbers, or 32-bit floats in base64. */
function asFloats(vector: Vector): readonly number[] {
  if (typeof vector !== 'string') return vector
  const bytes = Buffer.from(vector, 'base64')
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, i) => bytes.readFloatLE(i * 4))
}

function asBase64(vector: Vector): string {
  if (typeof vector === 'string') return vector
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (const [i, value] of vector.entries()) bytes.writeFloatLE(value, i * 4)
  return bytes.toString('base64')
}
