import type { OutputPiece, StreamName } from '../outputs/port.ts'

const NEWLINE = 10
const RETURN = 13
/** A longer line is shown in parts of this length: what is held for a reader stays small. */
const LONGEST_BYTES = 64 * 1024

/**
 * Two streams as one text in which no line is torn by the other stream: a line comes when it is whole. What comes depends on
 * the order of the bytes alone, not on how they were cut, so that a reader who comes back gets the same text.
 */
export class WholeLines {
  readonly #open: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }

  take(pieces: readonly OutputPiece[]): Uint8Array {
    return Buffer.concat(pieces.flatMap(piece => this.#takeOne(piece)))
  }

  /** The lines nobody finished. */
  rest(): Uint8Array {
    const rest = Buffer.concat([this.#open.stdout, this.#open.stderr])
    this.#open.stdout = this.#open.stderr = Buffer.alloc(0)
    return rest
  }

  #takeOne({ stream, bytes }: OutputPiece): Uint8Array[] {
    const end = Math.max(bytes.lastIndexOf(NEWLINE), bytes.lastIndexOf(RETURN)) + 1
    const whole = end === 0 ? [] : [this.#open[stream], bytes.subarray(0, end)]
    let open = end === 0 ? Buffer.concat([this.#open[stream], bytes]) : Buffer.from(bytes.subarray(end))
    for (; open.length >= LONGEST_BYTES; open = open.subarray(LONGEST_BYTES))
      whole.push(open.subarray(0, LONGEST_BYTES))
    this.#open[stream] = open
    return whole
  }
}
