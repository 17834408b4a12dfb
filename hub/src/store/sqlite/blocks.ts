/** Seqs of one block share the first column of the index on ends of ids. */
const BLOCK_BITS = 12

/** A call costs more than the blocks it asks; this many (a million jobs) take about a millisecond. */
const MOST_BLOCKS = 256

/** The condition that confines an index walk to blocks, given as a JSON list. */
export const IN_BLOCKS = `job.seq >> ${BLOCK_BITS} IN (SELECT value FROM json_each(?))`

/** Asks the newest block, then twice as many older ones each time, until `limit` rows are found: what is frequent is found at once, what is rare in few calls. */
export function newestBlocksFirst<Row>(
  newestSeq: number,
  limit: number,
  ask: (blocks: string, limit: number) => readonly Row[],
): readonly Row[] {
  const found: Row[] = []
  let top = Math.floor(newestSeq / 2 ** BLOCK_BITS)
  for (let count = 1; top >= 0 && found.length < limit; count = Math.min(count * 2, MOST_BLOCKS)) {
    const blocks = Array.from({ length: Math.min(count, top + 1) }, (_, index) => top - index)
    found.push(...ask(JSON.stringify(blocks), limit - found.length))
    top -= count
  }
  return found
}
