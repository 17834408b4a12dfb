import { eventIn, type Line, LineSplitter, type ProgramEvent } from '@stoker/protocol'
import type { OutputPiece } from '../outputs/port.ts'

/** What a program says on its stdout, out of the bytes of one attempt; lines that are no events are left out. */
export class ProgramEvents {
  readonly #lines = new LineSplitter()

  push(pieces: readonly OutputPiece[]): ProgramEvent[] {
    return pieces.flatMap(({ stream, bytes }) => (stream === 'stdout' ? said(this.#lines.push(bytes)) : []))
  }

  /** A last line needs no newline. */
  end(): ProgramEvent[] {
    return said(this.#lines.end())
  }
}

function said(lines: readonly Line[]): ProgramEvent[] {
  return lines.flatMap(line => eventIn(line, 'stdout') ?? [])
}
