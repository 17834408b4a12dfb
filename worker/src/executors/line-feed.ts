import type { LinesWritten } from './port.ts'

/** What a keeper may have in hand that its program has not read; a single line may be longer. */
const MOST_UNWRITTEN_BYTES = 1024 * 1024

/** Gives lines to a keeper in order, and waits with the next while too much of them is not written yet. */
export class LineFeed {
  readonly #send: (n: number, text: string) => void
  readonly #waiting: { readonly n: number; readonly text: string }[] = []
  readonly #sent: { readonly n: number; readonly bytes: number }[] = []
  readonly #listeners: ((written: LinesWritten) => void)[] = []
  #unwrittenBytes = 0
  #given: number
  #written: LinesWritten

  constructor(written: number, send: (n: number, text: string) => void) {
    this.#given = written
    this.#written = { n: written, refused: false }
    this.#send = send
  }

  give(n: number, text: string): void {
    if (n <= this.#given) return
    this.#given = n
    this.#waiting.push({ n, text })
    this.#sendWhatFits()
  }

  onWritten(listener: (written: LinesWritten) => void): void {
    this.#listeners.push(listener)
    queueMicrotask(() => listener(this.#written))
  }

  wrote({ n, refused }: LinesWritten): void {
    this.#written = { n, refused }
    while (this.#sent[0] !== undefined && this.#sent[0].n <= n) this.#unwrittenBytes -= this.#sent.shift()?.bytes ?? 0
    this.#sendWhatFits()
    for (const listener of this.#listeners) listener(this.#written)
  }

  #sendWhatFits(): void {
    while (this.#waiting[0] !== undefined && this.#unwrittenBytes < MOST_UNWRITTEN_BYTES) {
      const { n, text } = this.#waiting[0]
      this.#waiting.shift()
      this.#sent.push({ n, bytes: text.length })
      this.#unwrittenBytes += text.length
      this.#send(n, text)
    }
  }
}
