import type { Io } from '../io.ts'
import { paperOf } from '../output/paper.ts'
import { type OutputOptions, printerFor, type View } from '../output/printer.ts'

/** A second screen of the terminal, without a cursor: what was there before comes back when it is left. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_REST_OF_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

/** Where a watched value is shown: drawn over itself on a terminal; on a pipe, and with --json, again only when it differs. */
export class WatchScreen {
  readonly #io: Io
  readonly #options: OutputOptions
  readonly #isDrawn: boolean
  #isOpen = false
  #last = ''
  #note = ''

  constructor(io: Io, options: OutputOptions) {
    this.#io = io
    this.#options = options
    const isHuman = options.json !== true && options.quiet !== true
    this.#isDrawn = isHuman && io.stdout.isTTY && !io.config.isDumb
  }

  show<T>(value: T, view: View<T>): void {
    if (this.#isDrawn) this.#draw(value, view)
    else this.#print(value, view)
  }

  #print<T>(value: T, view: View<T>): void {
    const text = JSON.stringify(value)
    if (text === this.#last) return
    if (this.#last !== '' && this.#options.json !== true) this.#io.stdout.write('\n')
    this.#last = text
    printerFor(this.#io, this.#options).show(value, view)
  }

  /** Said once below the next picture. */
  note(text: string): void {
    if (this.#isDrawn) this.#note = text
  }

  /** The terminal as it was; may be called twice. */
  close(): void {
    if (this.#isOpen) this.#io.stdout.write(LEAVE)
    this.#isOpen = false
  }

  /** What was drawn is gone with its screen: the end stays where a person finds it. */
  showLast<T>(value: T, view: View<T>): void {
    if (this.#isDrawn) printerFor(this.#io, this.#options).show(value, view)
  }

  #draw<T>(value: T, view: View<T>): void {
    const paper = paperOf(this.#io, this.#io.stdout)
    const rows = Math.max(1, (this.#io.stdout.rows() ?? 24) - 1)
    const all = [
      ...view.human(value, paper).split('\n'),
      ...(this.#note === '' ? [] : [paper.color.yellow(this.#note)]),
    ]
    const lines =
      all.length > rows ? [...all.slice(0, rows - 1), paper.color.dim(`… ${all.length - rows + 1} more`)] : all
    const picture = lines.map(line => `${line}${CLEAR_REST_OF_LINE}\n`).join('')
    this.#io.stdout.write(`${this.#isOpen ? '' : ENTER}${HOME}${picture}${CLEAR_BELOW}`)
    this.#isOpen = true
    this.#note = ''
  }
}
