type Maker = () => unknown

/** Makers of nonsense; all chance comes from the seeded `random`. */
export class Garbage {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  /** A whole number below the limit. */
  below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0]
  }

  bytes(most: number): Buffer {
    return Buffer.from(Array.from({ length: 1 + this.below(most) }, () => this.below(256)))
  }

  text(most: number): string {
    return this.pick<() => string>([
      () => this.bytes(most).toString('latin1'),
      () => '\u0000\uD800\uFFFF💥'.repeat(1 + this.below(most / 4)),
      () => '../'.repeat(1 + this.below(most / 4)),
      () => 'x'.repeat(1 + this.below(most)),
      () => `${this.below(2) === 0 ? '-' : ''}${this.below(1e9)}e${this.below(400)}`,
      () => "'; DROP TABLE jobs; --",
      () => '',
    ])()
  }

  /** Any JSON value, a few levels deep. */
  value(depth = 3): unknown {
    const deeper = () => this.value(depth - 1)
    const flat: readonly [Maker, ...Maker[]] = [
      () => null,
      () => this.below(2) === 0,
      () => this.number(),
      () => this.text(20),
    ]
    if (depth === 0) return this.pick(flat)()
    return this.pick<Maker>([
      ...flat,
      () => Array.from({ length: this.below(4) }, deeper),
      () => Object.fromEntries(Array.from({ length: this.below(4) }, () => [this.text(8), deeper()])),
    ])()
  }

  number(): number {
    return this.pick([0, -1, 1.5, 1e308, -1e308, 2 ** 53, -(2 ** 31), Number.EPSILON, this.below(1000)])
  }

  /** A copy of which one place, chosen at random, is something else or missing. */
  spoil(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || this.below(6) === 0) return this.value()
    if (Array.isArray(value))
      return value.length === 0 ? [this.value()] : value.map((one, i) => (i === 0 ? this.spoil(one) : one))
    const keys = Object.keys(value)
    const chosen = keys[this.below(keys.length)]
    const entries = Object.entries(value).map(([key, one]) => [key, key === chosen ? this.spoil(one) : one])
    return Object.fromEntries(entries.filter(([key]) => key !== chosen || this.below(4) > 0))
  }
}

/** Copies of which each has one number, whichever there is, replaced by one that no counter should hold. */
export function withOddNumbers(value: unknown): unknown[] {
  if (typeof value === 'number') return [1.5, -1, 1e308, 2 ** 53, -(2 ** 63)].filter(odd => odd !== value)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) =>
    withOddNumbers(one).map(odd =>
      Array.isArray(value) ? value.map((kept, i) => (String(i) === key ? odd : kept)) : { ...value, [key]: odd },
    ),
  )
}
