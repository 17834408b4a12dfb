import { quantile } from '../statistics.ts'

const PIECES = 9
const KEYS = 20_000

/** What this machine takes for a piece of work that is always the same, such as servers do: text is made, hashed, kept and found. A host that is shared may slow down without a word in any counter. */
export function workTimeMs(): number {
  const times: number[] = []
  for (let piece = 0; piece < PIECES; piece += 1) {
    const startedAt = performance.now()
    if (pieceOfWork() !== KEYS) throw new Error(`a piece of work should find all of its ${KEYS} keys`)
    times.push(performance.now() - startedAt)
  }
  return quantile(times, 0.5)
}

function pieceOfWork(): number {
  const kept = new Map<string, { readonly at: number }>()
  for (let at = 0; at < KEYS; at += 1) kept.set(`${at}-${at % 7}`, { at })
  let found = 0
  for (let at = 0; at < KEYS; at += 1) if (kept.get(`${at}-${at % 7}`)?.at === at) found += 1
  return found
}
