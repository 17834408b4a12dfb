import { eventIn, levelOf, type ShownLine, ShownLines } from '@stoker/protocol'
import type { OutputPiece, StreamName, StreamOffsets } from '../outputs/port.ts'
import { eventText } from '../serving/sse.ts'
import { isoTime } from './iso-time.ts'

/** A place in a job's output, behind a line: reading on from there gives the next one. */
export interface OutputPlace {
  readonly attempt: number
  readonly offsets: StreamOffsets
}

export function placeText({ attempt, offsets }: OutputPlace): string {
  return `${attempt}.${offsets.stdout}.${offsets.stderr}`
}

/** Null for anything that no event ever had as its id. */
export function parsePlace(text: string): OutputPlace | null {
  const [, attempt, stdout, stderr] = /^([1-9]\d{0,8})\.(\d{1,15})\.(\d{1,15})$/.exec(text) ?? []
  if (attempt === undefined || stdout === undefined || stderr === undefined) return null
  return { attempt: Number(attempt), offsets: { stdout: Number(stdout), stderr: Number(stderr) } }
}

/** One attempt's bytes as events. The place of each counts only what was shown, so a line that is half there is sent again, whole. */
export class ProgramLines {
  readonly #attempt: number
  readonly #behind: { stdout: number; stderr: number }
  readonly #splitters: Readonly<Record<StreamName, ShownLines>>
  readonly #lastAt = { stdout: 0, stderr: 0 }

  constructor({ attempt, offsets }: OutputPlace) {
    this.#attempt = attempt
    this.#behind = { ...offsets }
    this.#splitters = { stdout: new ShownLines(offsets.stdout), stderr: new ShownLines(offsets.stderr) }
  }

  /** The events of what these pieces complete. */
  push(pieces: readonly OutputPiece[]): string {
    return pieces
      .map(({ stream, at, bytes }) => {
        this.#lastAt[stream] = at
        return this.#events(stream, this.#splitters[stream].push(bytes))
      })
      .join('')
  }

  /** The attempt is over: last lines need no newline. */
  end(): string {
    return this.#events('stdout', this.#splitters.stdout.end()) + this.#events('stderr', this.#splitters.stderr.end())
  }

  /** What the hub knows wins over fields of the same name that the program sent. */
  #events(stream: StreamName, lines: readonly ShownLine[]): string {
    const attempt = this.#attempt
    const at = isoTime(this.#lastAt[stream])
    let texts = ''
    for (const { text, endOffset, isOpen, goesOn } of lines) {
      this.#behind[stream] = endOffset
      const said = eventIn({ text, truncated: isOpen || goesOn }, stream)
      // A log line is one literal: spread objects take eight times as long to write out, and most lines are these.
      const data =
        said === null
          ? { log: text, level: levelOf(text), stream, attempt, at, open: isOpen || undefined }
          : { ...said.fields, attempt, stream, at }
      texts += eventText(said?.event ?? 'logs', JSON.stringify(data), placeText({ attempt, offsets: this.#behind }))
    }
    return texts
  }
}
