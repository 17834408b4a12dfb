import { eventIn, type Line, LineSplitter, levelOf } from '@stoker/protocol'
import type { OutputPiece, StreamName } from '../../outputs/port.ts'

/** One event of a task, before it is numbered. */
export interface TaskEvent {
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * One attempt's bytes as events. Lines come in the order in which their last byte arrived, whichever stream they are of:
 * that order is stored with the bytes, so every replay gives the same events. What is left without a newline comes last,
 * of stdout first.
 */
export class LineEvents {
  readonly #splitters: Readonly<Record<StreamName, LineSplitter>> = {
    stdout: new LineSplitter(),
    stderr: new LineSplitter(),
  }
  readonly #lastAt = { stdout: 0, stderr: 0 }

  push({ stream, at, bytes }: OutputPiece): TaskEvent[] {
    this.#lastAt[stream] = at
    return this.#events(stream, this.#splitters[stream].push(bytes))
  }

  end(): TaskEvent[] {
    return (['stdout', 'stderr'] as const).flatMap(stream => this.#events(stream, this.#splitters[stream].end()))
  }

  #events(stream: StreamName, lines: readonly Line[]): TaskEvent[] {
    const at = this.#lastAt[stream]
    return lines.flatMap(line => eventOf(line, stream, at) ?? [])
  }
}

/** Null for `finish`: how a task ended is told once, by the service, after the exit. */
function eventOf(line: Line, stream: StreamName, at: number): TaskEvent | null {
  const { text, truncated } = line
  const said = eventIn(line, stream)
  if (said?.event === 'finish') return null
  if (said !== null) return { event: said.event, data: said.fields }
  const log = truncated ? `${text}… [truncated]` : text
  return { event: 'logs', data: { log, level: levelOf(text), stream, timestamp: new Date(at).toISOString() } }
}
