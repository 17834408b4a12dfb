import type { Io, Out } from '../io.ts'
import { cutTo } from '../output/plain-text.ts'

const CLEAR_LINE = '\r\u001b[2K'

/** What a program writes, with one status line below it that never mixes with it; without a terminal there is none. */
export class Screen {
  readonly #io: Io
  readonly #hasStatus: boolean
  #status = ''
  #isMidLine = false

  constructor(io: Io) {
    this.#io = io
    this.#hasStatus = io.stderr.isTTY
  }

  line(out: Out, text: string): void {
    this.raw(out, `${this.#isMidLine ? '\n' : ''}${text}\n`)
  }

  raw(out: Out, text: string): void {
    if (text === '') return
    this.#erase()
    out.write(text)
    this.#isMidLine = !text.endsWith('\n')
    this.#draw()
  }

  status(text: string): void {
    if (text === this.#status) return
    this.#erase()
    this.#status = text
    this.#draw()
  }

  /** Leaves the cursor at the start of an empty line. */
  end(): void {
    this.#erase()
    this.#status = ''
    if (this.#isMidLine && this.#io.stdout.isTTY) this.#io.stdout.write('\n')
    this.#isMidLine = false
  }

  #erase(): void {
    if (this.#hasStatus && this.#status !== '' && !this.#isMidLine) this.#io.stderr.write(CLEAR_LINE)
  }

  #draw(): void {
    if (!this.#hasStatus || this.#status === '' || this.#isMidLine) return
    this.#io.stderr.write(cutTo(this.#status, (this.#io.stderr.columns() ?? 80) - 1))
  }
}
