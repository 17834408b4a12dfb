import { formatSize } from '@stoker/protocol'
import { Screen } from '../follow/screen.ts'
import type { Io } from '../io.ts'

const BAR = 20
/** Often enough to look alive, seldom enough to cost nothing. */
const REDRAW_MS = 100

/** One line on a terminal that shows what is on its way; nothing where nobody looks. */
export class TransferLine {
  readonly #screen: Screen
  #drawnAt = 0

  constructor(io: Io) {
    this.#screen = new Screen(io)
  }

  say(text: string): void {
    this.#screen.status(text)
  }

  async during<T>(what: string, size: number, work: (onBytes: (bytes: number) => void) => Promise<T>): Promise<T> {
    this.#draw(what, 0, size)
    try {
      return await work(bytes => {
        if (performance.now() - this.#drawnAt > REDRAW_MS) this.#draw(what, bytes, size)
      })
    } finally {
      this.#screen.end()
    }
  }

  #draw(what: string, bytes: number, size: number): void {
    this.#drawnAt = performance.now()
    const filled = size === 0 ? BAR : Math.min(BAR, Math.round((BAR * bytes) / size))
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`
    this.#screen.status(`${bar} ${what}, ${formatSize(bytes)} of ${formatSize(size)}`)
  }
}
