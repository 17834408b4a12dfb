import { LineSplitter } from '@stoker/protocol'

const OF_RANK = /^\[rank (\d+)\] /

/** What one rank of a job said, line by line: those of the others carry their number, those of rank 0 none. */
export async function* rankLines(parts: AsyncIterable<Uint8Array>, rank: number): AsyncGenerator<Uint8Array> {
  const lines = new LineSplitter(0, { keepBlank: true })
  for await (const part of parts) yield* chosen(lines.push(part), rank)
  yield* chosen(lines.end(), rank)
}

function* chosen(lines: readonly { readonly text: string }[], rank: number): Generator<Uint8Array> {
  for (const { text } of lines) {
    const prefix = OF_RANK.exec(text)
    if (Number(prefix?.[1] ?? 0) === rank) yield Buffer.from(`${text.slice(prefix?.[0].length ?? 0)}\n`)
  }
}
