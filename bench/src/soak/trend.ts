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
