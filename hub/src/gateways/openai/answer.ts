import type { ProgramEvent } from '@stoker/protocol'
import { z } from 'zod'

const Tokens = z.int().min(0)
const Usage = z.looseObject({ prompt_tokens: Tokens, completion_tokens: Tokens.default(0) })
const ToolCalls = z.array(z.looseObject({})).min(1)
const Embedding = z.union([z.array(z.number()).min(1), z.base64().min(1)])

/** What programs may say about their answer in the `result` of `finish`; what has another form is as if it were not there. */
const Result = z.looseObject({
  usage: Usage.nullish().catch(null),
  finish_reason: z.string().min(1).max(100).nullish().catch(null),
  tool_calls: ToolCalls.nullish().catch(null),
  embeddings: z.array(Embedding).nullish().catch(null),
})

/** As the program counted them; nobody else can. */
export interface TokenUse {
  readonly prompt: number
  readonly completion: number
}

/** The answer of one task as it grows: everything its program said of it in one attempt. */
export class Answer {
  readonly #deltas: string[] = []
  #text: string | null = null
  #result: z.output<typeof Result> = {}
  #failure: string | null = null
  #length = 0

  /** The piece of text that is to be told at once; null if there is none. */
  hear({ event, fields }: ProgramEvent): string | null {
    if (event === 'text') this.#text = textOf(fields.content)
    if (event === 'finish') {
      this.#result = Result.safeParse(fields.result).data ?? {}
      if (fields.status === 'failed')
        this.#failure = textOf(fields.error) || textOf(fields.message) || 'the program gave no reason'
    }
    if (event !== 'text_delta') return null
    const delta = textOf(fields.delta)
    this.#deltas.push(delta)
    this.#length += delta.length
    return delta
  }

  get length(): number {
    return this.#length
  }

  get hasDeltas(): boolean {
    return this.#length > 0
  }

  /** The whole text that was said last, otherwise all pieces. */
  get text(): string {
    return this.#text ?? this.#deltas.join('')
  }

  /** The program itself said that it could not do it. */
  get failure(): string | null {
    return this.#failure
  }

  /** Null when the program did not say. */
  get usage(): TokenUse | null {
    const { usage } = this.#result
    return usage ? { prompt: usage.prompt_tokens, completion: usage.completion_tokens } : null
  }

  get toolCalls(): readonly Readonly<Record<string, unknown>>[] | null {
    return this.#result.tool_calls ?? null
  }

  get finishReason(): string {
    return this.#result.finish_reason ?? (this.toolCalls === null ? 'stop' : 'tool_calls')
  }

  get embeddings(): readonly (readonly number[] | string)[] {
    return this.#result.embeddings ?? []
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
