/** Longer lines are cut into pieces of this size, which are no events. */
const LONGEST_BYTES = 1024 * 1024
const NEWLINE = 10
const CARRIAGE_RETURN = 13
const BRACE = 123

/** A line with its newline, as it was printed. Its bytes are good until the next push. */
export interface Piece {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

/** Cuts output into lines without changing a byte; where the cuts are depends on the bytes alone, not on how they arrive. */
export class LineCutter {
  #rest: Buffer = Buffer.alloc(0)
  #at: number

  constructor(at = 0) {
    this.#at = at
  }

  *push(bytes: Buffer): Generator<Piece> {
    const data = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    let from = 0
    for (let end = endOfLine(data, from); end !== -1; end = endOfLine(data, from)) {
      yield this.#piece(data.subarray(from, end))
      from = end
    }
    this.#rest = Buffer.from(data.subarray(from))
  }

  /** A tail without newline is a line too, once the program has ended. */
  *end(): Generator<Piece> {
    if (this.#rest.length > 0) yield this.#piece(this.#rest)
    this.#rest = Buffer.alloc(0)
  }

  #piece(bytes: Buffer): Piece {
    const start = this.#at
    this.#at += bytes.length
    return { bytes, start, end: this.#at }
  }
}

/** The text of a line that may be an event, or null. */
export function eventText({ bytes }: Piece): string | null {
  if (bytes[0] !== BRACE) return null
  let end = bytes.length
  if (bytes[end - 1] === NEWLINE) end -= 1
  if (bytes[end - 1] === CARRIAGE_RETURN) end -= 1
  return bytes.toString('utf8', 0, end)
}

function endOfLine(data: Buffer, from: number): number {
  const newline = data.indexOf(NEWLINE, from)
  const end = newline === -1 ? Number.POSITIVE_INFINITY : newline + 1
  if (end - from <= LONGEST_BYTES) return end
  return data.length - from >= LONGEST_BYTES ? from + LONGEST_BYTES : -1
}
