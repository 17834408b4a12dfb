import type { Hub } from './servers/stoker.ts'

/** The upper bounds of a histogram's buckets with how many values lie at or below each, as Prometheus has them. */
export type Histogram = ReadonlyMap<number, number>

/** One histogram of the hub as it stands now. */
export async function histogramOf(hub: Hub, name: string): Promise<Histogram> {
  const response = await fetch(`${hub.url}/metrics`, { headers: { authorization: `Bearer ${hub.token}` } })
  if (!response.ok) throw new Error(`the hub should give its figures, it answered ${response.status}`)
  return parseHistogram(await response.text(), name)
}

export function parseHistogram(text: string, name: string): Histogram {
  const lines = text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\d+)$`, 'gm'))
  const found = [...lines].map(
    ([, bound, count]) => [bound === '+Inf' ? Infinity : Number(bound), Number(count)] as const,
  )
  if (found.length === 0) throw new Error(`the figures should hold ${name}, they do not`)
  return new Map(found)
}

/** What came between two looks; the quantile lies evenly within its bucket, and in the last one at its lower bound. */
export function quantileBetween(before: Histogram, after: Histogram, q: number): number {
  const grown = [...after].map(([bound, count]) => ({ bound, count: count - (before.get(bound) ?? 0) }))
  const wanted = (grown.at(-1)?.count ?? 0) * q
  if (wanted === 0) throw new Error('a quantile needs a value, nothing came between the two looks')
  let low = { bound: 0, count: 0 }
  for (const high of grown) {
    if (high.count < wanted) {
      low = high
      continue
    }
    if (high.bound === Infinity) return low.bound
    return low.bound + ((high.bound - low.bound) * (wanted - low.count)) / (high.count - low.count)
  }
  return low.bound
}
