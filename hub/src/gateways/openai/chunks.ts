import type { Answer } from './answer.ts'
import { errorOf } from './api-error.ts'
import type { ExchangeNews } from './exchange.ts'
import { type Envelope, type TextShape, usageBody, usageOf } from './shapes.ts'

/** A stream of a text that grows, as server-sent events: one for each piece as it comes. An error is the last one. */
export async function* chunks(
  shape: TextShape,
  { id, created, model }: Envelope,
  news: AsyncGenerator<ExchangeNews, void>,
  options: { readonly hasUsage: boolean; readonly failed: (error: unknown) => void },
): AsyncGenerator<string, void> {
  const answers: Answer[] = []
  const opened = new Set<number>()
  const withUsage = options.hasUsage ? { usage: null } : {}
  const chunk = (choices: readonly object[], usage: object = withUsage): string =>
    dataText({ id, object: shape.chunkObject, created, model, choices, ...usage })

  function open(index: number): string {
    if (opened.has(index)) return ''
    opened.add(index)
    return shape.opening === null ? '' : chunk([shape.opening(index)])
  }

  function close(index: number, answer: Answer): string {
    const text = answer.hasDeltas || answer.text === '' ? '' : chunk([shape.piece(index, answer.text)])
    const extra = shape.extra(index, answer)
    return open(index) + text + (extra === null ? '' : chunk([extra])) + chunk([shape.closing(index, answer)])
  }

  try {
    for await (const one of news) {
      if (one.kind === 'quiet') yield opened.size === 0 ? ': starting\n\n' : ': working\n\n'
      else if (one.kind === 'delta') yield open(one.index) + chunk([shape.piece(one.index, one.text)])
      else {
        answers[one.index] = one.answer
        yield close(one.index, one.answer)
      }
    }
    const usage = options.hasUsage ? usageOf(answers) : null
    yield `${usage === null ? '' : chunk([], { usage: usageBody(usage) })}data: [DONE]\n\n`
  } catch (error) {
    const answer = errorOf(error)
    if (answer !== error && answer.status === 500) options.failed(error)
    yield dataText(answer.body)
  }
}

function dataText(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}
