import type { TokenUse } from './answer.ts'

/** Tokens that programs say they have read and written, by owner and model, since the hub started. */
export class TokenFigures {
  readonly #sums = new Map<
    string,
    { readonly owner: string; readonly model: string; prompt: number; completion: number; uncounted: number }
  >()

  take(owner: string, model: string, usage: TokenUse | null): void {
    const key = JSON.stringify([owner, model])
    const sum = this.#sums.get(key) ?? { owner, model, prompt: 0, completion: 0, uncounted: 0 }
    sum.prompt += usage?.prompt ?? 0
    sum.completion += usage?.completion ?? 0
    sum.uncounted += usage === null ? 1 : 0
    this.#sums.set(key, sum)
  }

  /** As Prometheus reads it. */
  get text(): string {
    const sums = [...this.#sums.values()]
    const tokens = sums.flatMap(({ owner, model, prompt, completion }) => [
      `stoker_model_tokens_total${labels({ owner, model, direction: 'in' })} ${prompt}`,
      `stoker_model_tokens_total${labels({ owner, model, direction: 'out' })} ${completion}`,
    ])
    const uncounted = sums.map(
      sum => `stoker_model_uncounted_tasks_total${labels({ owner: sum.owner, model: sum.model })} ${sum.uncounted}`,
    )
    return [
      '# HELP stoker_model_tokens_total Tokens that programs of models said they read (in) and wrote (out)',
      '# TYPE stoker_model_tokens_total counter',
      ...tokens,
      '# HELP stoker_model_uncounted_tasks_total Answered tasks of models whose programs said no number of tokens',
      '# TYPE stoker_model_uncounted_tasks_total counter',
      ...uncounted,
      '',
    ].join('\n')
  }
}

function labels(values: Readonly<Record<string, string>>): string {
  const parts = Object.entries(values).map(([name, value]) => `${name}="${escaped(value)}"`)
  return `{${parts.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
