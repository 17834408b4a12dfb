import { join, NEWLINE, wholeCharacters, withoutReturn } from './line-bytes.ts'

/** What is read of a line unless someone says otherwise: a long event fits, a runaway line fills no memory. */
export const MAX_LINE_BYTES = 1024 * 1024

/** One line of output, with the byte offset just behind its newline: reading again from there continues without gap or repeat. */
export interface Line {
  readonly text: string
  readonly endOffset: number
  readonly truncated: boolean
}

/** Cuts bytes into lines. Frames may end anywhere, inside a character too; a line longer than the cap keeps its start and is marked. Blank lines say nothing to a program's listener and are skipped, unless someone wants to see them. */
export class LineSplitter {
  #parts: Uint8Array[] = []
  #held = 0
  #discarding = false
  #offset: number
  readonly #maxBytes: number
  readonly #keepBlank: boolean
  readonly #decoder = new TextDecoder('utf-8')

  constructor(startOffset = 0, { maxBytes = MAX_LINE_BYTES, keepBlank = false } = {}) {
    this.#offset = startOffset
    this.#maxBytes = maxBytes
    this.#keepBlank = keepBlank
  }

  push(bytes: Uint8Array): Line[] {
    const lines: Line[] = []
    let from = 0
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      this.#offset += at + 1 - from
      if (this.#held === 0 && !this.#discarding && at - from <= this.#maxBytes)
        this.#add(lines, bytes.subarray(from, at))
      else {
        this.#hold(bytes.subarray(from, at))
        this.#emit(lines)
      }
      from = at + 1
    }
    this.#hold(bytes.subarray(from))
    this.#offset += bytes.length - from
    return lines
  }

  /** A tail without newline is a line too, once the stream has ended. */
  end(): Line[] {
    const lines: Line[] = []
    if (this.#held > 0) this.#emit(lines)
    return lines
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#discarding) return
    const room = this.#maxBytes - this.#held
    const kept = bytes.length > room ? bytes.subarray(0, room) : bytes
    this.#discarding = kept.length < bytes.length
    this.#parts.push(kept.slice())
    this.#held += kept.length
  }

  #emit(lines: Line[]): void {
    const whole = join(this.#parts, this.#held)
    this.#parts = []
    this.#held = 0
    this.#add(lines, whole)
    this.#discarding = false
  }

  #add(lines: Line[], whole: Uint8Array): void {
    const end = this.#discarding ? wholeCharacters(whole) : withoutReturn(whole)
    const text = end === 0 ? '' : this.#decoder.decode(whole.subarray(0, end))
    if (this.#keepBlank || text.trim() !== '')
      lines.push({ text, endOffset: this.#offset, truncated: this.#discarding })
  }
}
