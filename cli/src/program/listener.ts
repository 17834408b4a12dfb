import { eventIn, LineSplitter, type OutputStream, parseLine } from '@stoker/protocol'
import type { Heard } from './observation.ts'

/** Turns the bytes of both streams into lines with their time of arrival. */
export class Listener {
  readonly heard: Heard[] = []
  readonly #splitters = {
    stdout: new LineSplitter(0, { keepBlank: true }),
    stderr: new LineSplitter(0, { keepBlank: true }),
  }
  readonly #numbers = { stdout: 0, stderr: 0 }

  /** What these bytes complete; null: the stream has ended, and its tail is a line. */
  take(stream: OutputStream, bytes: Uint8Array | null, atMs: number): Heard[] {
    const splitter = this.#splitters[stream]
    const fresh: Heard[] = []
    for (const line of bytes === null ? splitter.end() : splitter.push(bytes)) {
      this.#numbers[stream] += 1
      if (line.text.trim() === '') continue
      const said = parseLine(line, stream)
      fresh.push({
        ...line,
        stream,
        number: this.#numbers[stream],
        atMs,
        said,
        isEvent: eventIn(line, stream) !== null,
      })
    }
    this.heard.push(...fresh)
    return fresh
  }
}
