import { quantile } from '../statistics.ts'

/** One look at something that should not grow: when (ms), and how much there was. */
export type Look = readonly [at: number, value: number]

/** The lowest of each so many looks in a row: what is there only for a moment does not count, what stays does. */
export function lowest(looks: readonly Look[], of: number): Look[] {
  return Array.from({ length: Math.floor(looks.length / of) }, (_, i) =>
    looks.slice(i * of, (i + 1) * of).reduce((low, look) => (look[1] < low[1] ? look : low)),
  )
}

/**
 * How much a figure grew over the second half of its looks, in percent of its median there or of `least` if that is more: of
 * next to nothing, a little is many percent. The growth is the median slope between any two looks, so that neither a sawtooth
 * nor a few wild values count.
 */
export function growthPercent(looks: readonly Look[], least = 0): number {
  const half = looks.slice(Math.floor(looks.length / 2))
  const [first, last] = [half[0], half.at(-1)]
  if (first === undefined || last === undefined || half.length < 2)
    throw new Error(`a trend needs four looks, found ${looks.length}`)
  const slopes = half.flatMap(([at, value], i) =>
    half.slice(i + 1).map(([later, then]) => (then - value) / (later - at)),
  )
  const values = half.map(([, value]) => value)
  const base = Math.max(least, quantile(values, 0.5))
  return base === 0 ? 0 : (100 * quantile(slopes, 0.5) * (last[0] - first[0])) / base
}

/**
 * The same for what goes up and down in waves, where a slope depends on the waves it begins and ends with: the mean of the last
 * quarter of the looks against that of the second one, half of the time before. Each must hold some waves.
 */
export function growthOfMeansPercent(looks: readonly Look[], least = 0): number {
  const quarter = Math.floor(looks.length / 4)
  if (quarter === 0) throw new Error(`a trend needs four looks, found ${looks.length}`)
  const before = middleMean(looks.slice(quarter, 2 * quarter))
  const base = Math.max(least, before)
  return base === 0 ? 0 : (100 * (middleMean(looks.slice(-quarter)) - before)) / base
}

/** Looks count less towards both ends, so that it does not matter in which part of a wave they begin. */
function middleMean(looks: readonly Look[]): number {
  const weights = looks.map((_, i) => Math.sin((Math.PI * (i + 0.5)) / looks.length) ** 2)
  const sum = looks.reduce((total, [, value], i) => total + value * (weights[i] ?? 0), 0)
  return sum / weights.reduce((total, weight) => total + weight, 0)
}
