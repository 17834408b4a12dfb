import { formatSize } from '@stoker/protocol'
import { Screen } from '../follow/screen.ts'
import type { Io } from '../io.ts'

const BAR = 20

/** One line on a terminal that shows what is on its way; nothing where nobody looks. */
export class TransferLine {
  readonly #screen: Screen

  constructor(io: Io) {
    this.#screen = new Screen(io)
  }

  say(text: string): void {
    this.#screen.status(() => text)
  }

  /** The same, where who works tells how many bytes more have come. */
  duringMore<T>(what: string, size: number, work: (onMore: (bytes: number) => void) => Promise<T>): Promise<T> {
    let sum = 0
    return this.during(what, size, onBytes =>
      work(more => {
        sum += more
        onBytes(sum)
      }),
    )
  }

  async during<T>(what: string, size: number, work: (onBytes: (bytes: number) => void) => Promise<T>): Promise<T> {
    let here = 0
    this.#screen.status(() => lineOf(what, here, size))
    try {
      return await work(bytes => {
        here = bytes
        this.#screen.status(() => lineOf(what, here, size))
      })
    } finally {
      this.#screen.end()
    }
  }
}

function lineOf(what: string, bytes: number, size: number): string {
  const filled = size === 0 ? BAR : Math.min(BAR, Math.round((BAR * bytes) / size))
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}`
  return `${bar} ${what}, ${formatSize(bytes)} of ${formatSize(size)}`
}
