import { type ShownLine, ShownLines } from '@stoker/protocol'

const OF_RANK = /^\[rank (\d+)\] /

/** What one rank of a job said, line by line: those of the others carry their number, those of rank 0 none. */
export async function* rankLines(parts: AsyncIterable<Uint8Array>, rank: number): AsyncGenerator<Uint8Array> {
  const lines = new ShownLines()
  const choose = chooserOf(rank)
  for await (const part of parts) yield* choose(lines.push(part))
  yield* choose(lines.end())
}

/** Parts of a line belong to whom its beginning does. */
function chooserOf(rank: number): (lines: readonly ShownLine[]) => Generator<Uint8Array> {
  let isChosen = false
  return function* choose(lines) {
    for (const { text, isOpen, goesOn } of lines) {
      const prefix = goesOn ? null : OF_RANK.exec(text)
      if (!goesOn) isChosen = Number(prefix?.[1] ?? 0) === rank
      if (isChosen) yield Buffer.from(`${text.slice(prefix?.[0].length ?? 0)}${isOpen ? '' : '\n'}`)
    }
  }
}
