/** A histogram without labels whose `observe` only adds: it is called for every request and every commit. */
export class PlainHistogram {
  readonly name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  /** Of each bound those that are not below an earlier one, and at the end those above all. */
  readonly #counts: number[]
  #sum = 0

  constructor({ name, help, buckets }: { readonly name: string; readonly help: string; readonly buckets: number[] }) {
    this.name = name
    this.#help = help
    this.#bounds = buckets
    this.#counts = Array(buckets.length + 1).fill(0)
  }

  observe(value: number): void {
    let at = 0
    while (value > (this.#bounds[at] ?? Number.POSITIVE_INFINITY)) at += 1
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
  }

  get count(): number {
    return this.#counts.reduce((sum, n) => sum + n, 0)
  }

  /** As Prometheus reads it. */
  get text(): string {
    let upTo = 0
    const lines = this.#counts.map((n, at) => {
      upTo += n
      return `${this.name}_bucket{le="${this.#bounds[at] ?? '+Inf'}"} ${upTo}`
    })
    const head = [`# HELP ${this.name} ${this.#help}`, `# TYPE ${this.name} histogram`]
    return [...head, ...lines, `${this.name}_sum ${this.#sum}`, `${this.name}_count ${upTo}`, ''].join('\n')
  }
}
