import type { JournalEnd } from './port.ts'

/** The end of a journal that never had a row. */
export const NO_JOURNAL: JournalEnd = { n: 0, hash: '' }

/** The journal has no holes, so a row that does not follow the last one comes from a writer that lost track. */
export function assertFollows(endN: number, n: number): void {
  if (n !== endN + 1) throw new Error(`journal row ${n} does not follow the last row ${endN}`)
}
