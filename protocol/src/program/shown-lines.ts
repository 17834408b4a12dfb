import { CARRIAGE_RETURN, join, NEWLINE, wholeCharacters, withoutReturn } from './line-bytes.ts'
import { MAX_LINE_BYTES } from './lines.ts'

/** A line, or a part of one, with the byte offset just behind it. */
export interface ShownLine {
  readonly text: string
  readonly endOffset: number
  /** More of the line follows. A carriage return that ended this part is the last character of its text. */
  readonly isOpen: boolean
  /** What came before belongs to the same line. */
  readonly goesOn: boolean
}

/**
 * Cuts bytes into what can be shown at once and in full: lines, and parts of them where a carriage return starts a line
 * over, as progress bars do, or where a line is longer than any event. The cuts depend on the bytes alone, not on how
 * they came.
 */
export class ShownLines {
  readonly #maxBytes: number
  readonly #decoder = new TextDecoder('utf-8')
  #parts: Uint8Array[] = []
  #held = 0
  #goesOn = false
  /** Behind everything that was shown. */
  #offset: number

  constructor(startOffset = 0, { maxBytes = MAX_LINE_BYTES } = {}) {
    this.#offset = startOffset
    this.#maxBytes = maxBytes
  }

  push(bytes: Uint8Array): ShownLine[] {
    const lines: ShownLine[] = []
    if (this.#parts.at(-1)?.at(-1) === CARRIAGE_RETURN && bytes.length > 0 && bytes[0] !== NEWLINE)
      this.#close(lines, NOTHING, true)
    let from = 0
    let newline = bytes.indexOf(NEWLINE)
    let carriage = loneReturn(bytes, 0)
    while (newline !== -1 || carriage !== -1) {
      const isOpen = carriage !== -1 && (newline === -1 || carriage < newline)
      const end = isOpen ? carriage : newline
      this.#close(lines, bytes.subarray(from, isOpen ? end + 1 : end), isOpen)
      from = end + 1
      if (isOpen) carriage = loneReturn(bytes, from)
      else newline = bytes.indexOf(NEWLINE, from)
    }
    this.#hold(lines, bytes.subarray(from))
    return lines
  }

  /** A tail without newline is a line too, once the stream has ended. */
  end(): ShownLine[] {
    const lines: ShownLine[] = []
    if (this.#held > 0) this.#add(lines, this.#takeHeld(), false, 0)
    return lines
  }

  #close(lines: ShownLine[], bytes: Uint8Array, isOpen: boolean): void {
    const behind = isOpen ? 0 : 1
    if (this.#held === 0 && bytes.length <= this.#maxBytes) this.#add(lines, bytes, isOpen, behind)
    else {
      this.#hold(lines, bytes)
      this.#add(lines, this.#takeHeld(), isOpen, behind)
    }
  }

  #hold(lines: ShownLine[], bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#parts.push(bytes.slice())
    this.#held += bytes.length
    if (this.#held <= this.#maxBytes) return
    let rest = this.#takeHeld()
    while (rest.length > this.#maxBytes) {
      const end = wholeCharacters(rest.subarray(0, this.#maxBytes))
      this.#add(lines, rest.subarray(0, end), true, 0)
      rest = rest.subarray(end)
    }
    this.#hold(lines, rest)
  }

  #takeHeld(): Uint8Array {
    const whole = join(this.#parts, this.#held)
    this.#parts = []
    this.#held = 0
    return whole
  }

  #add(lines: ShownLine[], bytes: Uint8Array, isOpen: boolean, behind: number): void {
    this.#offset += bytes.length + behind
    const end = isOpen ? bytes.length : withoutReturn(bytes)
    const text = end === 0 ? '' : this.#decoder.decode(bytes.subarray(0, end))
    lines.push({ text, endOffset: this.#offset, isOpen, goesOn: this.#goesOn })
    this.#goesOn = isOpen
  }
}

const NOTHING = new Uint8Array(0)

/** The next return that no newline follows; -1 if there is none, or if that is not known yet. */
function loneReturn(bytes: Uint8Array, from: number): number {
  let at = bytes.indexOf(CARRIAGE_RETURN, from)
  while (at !== -1 && bytes[at + 1] === NEWLINE) at = bytes.indexOf(CARRIAGE_RETURN, at + 1)
  return at === bytes.length - 1 ? -1 : at
}
