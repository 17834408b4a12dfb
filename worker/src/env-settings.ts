type Environment = Readonly<Record<string, string | undefined>>

const YES: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on'])
const NO: ReadonlySet<string> = new Set(['false', '0', 'no', 'off'])
/** A day: whoever wants to see less often wants to see nothing. */
const LONGEST_S = 86_400

/** Whether models may be fetched at all; without a word they are. */
export function fetchesModels({ AUTO_FETCH_MODELS: given = '' }: Environment): boolean {
  const word = given.trim().toLowerCase()
  if (word === '' || YES.has(word)) return true
  if (NO.has(word)) return false
  throw new Error(`AUTO_FETCH_MODELS is true or false, found "${given}"`)
}

/** How often load is measured and told; null where nobody said. */
export function metricsMs({ GPU_METRICS_REFRESH_INTERVAL: given = '' }: Environment): number | null {
  if (given.trim() === '') return null
  const seconds = Number(given)
  if (!(seconds >= 0.1 && seconds <= LONGEST_S))
    throw new Error(`GPU_METRICS_REFRESH_INTERVAL is a number of seconds from 0.1 to ${LONGEST_S}, found "${given}"`)
  return Math.round(seconds * 1000)
}
