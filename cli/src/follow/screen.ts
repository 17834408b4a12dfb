import type { Io, Out } from '../io.ts'
import { cutTo, widthOf } from '../output/plain-text.ts'

const CLEAR_LINE = '\r\u001b[2K'
const UP_AND_CLEAR = '\u001b[1A\u001b[2K'
/** Ten times a second is as live as an eye can see, and leaves a chatty program its speed. */
const DRAW_EVERY_MS = 100

/** A line of at most so many columns, made when it is drawn; empty for none. */
type StatusLine = (columns: number) => string

/**
 * What a program writes, with one status line below it that never mixes with it; without a terminal there is none.
 * The line is wiped before anything is written and drawn again a moment later, so output never waits for it.
 */
export class Screen {
  readonly #io: Io
  readonly #hasStatus: boolean
  readonly #midLine = new Set<Out>()
  /** Those whose line is to be gone on with. */
  readonly #open = new Set<Out>()
  #line: StatusLine = () => ''
  #drawn = ''
  #drawnAt = 0
  #timer: NodeJS.Timeout | null = null

  constructor(io: Io) {
    this.#io = io
    this.#hasStatus = io.stderr.isTTY && !io.config.isDumb
  }

  line(out: Out, text: string): void {
    const isApart = this.#midLine.has(out) && !this.#open.has(out)
    this.raw(out, `${isApart ? '\n' : ''}${text}\n`)
  }

  /** The next line goes on with it. */
  part(out: Out, text: string): void {
    this.raw(out, text)
    this.#open.add(out)
  }

  raw(out: Out, text: string | Uint8Array): void {
    if (text.length === 0) return
    this.#erase()
    if (out.isTTY) this.#endLines(other => other !== out)
    out.write(text)
    this.#open.delete(out)
    if (endsLine(text)) this.#midLine.delete(out)
    else this.#midLine.add(out)
    this.#drawSoon()
  }

  /** Words beside the output, at the start of a line. */
  note(say: () => void): void {
    this.#erase()
    this.#endLines()
    say()
    this.#drawSoon()
  }

  status(line: StatusLine): void {
    this.#line = line
    this.#drawSoon()
  }

  /** Leaves the cursor at the start of an empty line. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#erase()
    this.#line = () => ''
    this.#endLines()
  }

  /** On a terminal nothing is written behind half a line of something else. */
  #endLines(isMeant: (out: Out) => boolean = () => true): void {
    for (const out of [...this.#midLine].filter(isMeant)) {
      if (out.isTTY) out.write('\n')
      this.#midLine.delete(out)
      this.#open.delete(out)
    }
  }

  #drawSoon(): void {
    if (!this.#hasStatus || this.#timer !== null) return
    const waitMs = this.#drawnAt + DRAW_EVERY_MS - this.#io.now()
    const draw = () => {
      this.#timer = null
      this.#draw()
    }
    if (waitMs <= 0) draw()
    else this.#timer = setTimeout(draw, waitMs)
  }

  /** Behind half a line of the program there is no place for it. */
  #draw(): void {
    if ([...this.#midLine].some(out => out.isTTY)) return
    const columns = this.#columns()
    const text = cutTo(this.#line(columns - 1), columns - 1)
    if (text === this.#drawn) return
    this.#erase()
    this.#io.stderr.write(text)
    this.#drawn = text
    this.#drawnAt = this.#io.now()
  }

  /** A terminal made narrower meanwhile has broken the line into several. */
  #erase(): void {
    if (this.#drawn === '') return
    const rows = Math.ceil(widthOf(this.#drawn) / this.#columns())
    this.#io.stderr.write(CLEAR_LINE + UP_AND_CLEAR.repeat(Math.max(0, rows - 1)))
    this.#drawn = ''
  }

  #columns(): number {
    return Math.max(2, this.#io.stderr.columns() ?? 80)
  }
}

function endsLine(text: string | Uint8Array): boolean {
  return typeof text === 'string' ? text.endsWith('\n') : text[text.length - 1] === 10
}
