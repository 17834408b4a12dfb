/** Rounds of one contestant in short: the middle, and how far they lay apart. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly rounds: number
}

/** Linear between the two nearest values; 0 is the smallest, 1 the largest. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)]
  const high = sorted[Math.ceil(at)]
  if (low === undefined || high === undefined) throw new Error(`a quantile needs a value, found ${values.length}`)
  return low + (high - low) * (at - Math.floor(at))
}

export function figureOf(values: readonly number[]): Figure {
  return {
    median: quantile(values, 0.5),
    min: quantile(values, 0),
    max: quantile(values, 1),
    rounds: values.length,
  }
}

/** How far apart the rounds lay, as a share of their median: above a half, the machine was not ours alone. */
export function spreadOf({ median, min, max }: Figure): number {
  return median === 0 ? 0 : (max - min) / median
}
