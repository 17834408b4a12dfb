import type { Progress } from '../machine.ts'
import { eventIn, type OutputStream, type ProgramEvent } from './event.ts'
import { type Line, LineSplitter } from './lines.ts'
import { MAX_RESULT_BYTES } from './result.ts'

const KEPT_STDERR_LINES = 10
const MAX_LINE_CHARS = 2000
const ANSWERS: ReadonlySet<string> = new Set(['text', 'text_delta', 'progress', 'checkpoint', 'artifact', 'finish'])

export interface Finish {
  readonly status: string
  readonly message: string | null
  readonly error: string | null
}

/** Listens to a program: remembers how it said it finished, its result, its last words on stderr, and tells of progress. */
export class ProgramWatch {
  readonly #splitters: Record<OutputStream, LineSplitter> = { stdout: new LineSplitter(), stderr: new LineSplitter() }
  readonly #onProgress: (progress: Progress) => void
  readonly #onCheckpoint: (fields: ProgramEvent['fields']) => void
  #finish: Finish | null = null
  #result: unknown = null
  #stderr: string[] = []
  #hasAnswered = false

  constructor(
    onProgress: (progress: Progress) => void,
    onCheckpoint: (fields: ProgramEvent['fields']) => void = () => {},
  ) {
    this.#onProgress = onProgress
    this.#onCheckpoint = onCheckpoint
  }

  push(stream: OutputStream, bytes: Uint8Array): void {
    for (const line of this.#splitters[stream].push(bytes)) this.#take(stream, line)
  }

  end(): void {
    for (const stream of ['stdout', 'stderr'] as const)
      for (const line of this.#splitters[stream].end()) this.#take(stream, line)
  }

  /** What was read elsewhere, of a program whose output is shared out. */
  hear({ event, fields }: ProgramEvent): void {
    this.#hasAnswered ||= ANSWERS.has(event)
    if (event === 'text') this.#result = { text: fields.content ?? null }
    else if (event === 'progress') this.#onProgress(progressOf(fields))
    else if (event === 'checkpoint') this.#onCheckpoint(fields)
    else if (event === 'finish') {
      this.#finish = {
        status: String(fields.status ?? 'completed'),
        message: textOf(fields.message),
        error: textOf(fields.error),
      }
      if (fields.result !== undefined) this.#result = fields.result
    }
  }

  get finish(): Finish | null {
    return this.#finish
  }

  /** It has said something to its task, more than that it is there. */
  get hasAnswered(): boolean {
    return this.#hasAnswered
  }

  get lastStderr(): readonly string[] {
    return this.#stderr
  }

  /** What the program gave as its result, or a note why it is not kept. */
  get result(): { readonly value: unknown; readonly note: string | null } {
    const bytes = new TextEncoder().encode(JSON.stringify(this.#result) ?? '').length
    if (bytes <= MAX_RESULT_BYTES) return { value: this.#result, note: null }
    return { value: null, note: `the result has ${bytes} bytes, at most ${MAX_RESULT_BYTES} are kept; see the log` }
  }

  #take(stream: OutputStream, line: Line): void {
    if (stream === 'stderr') {
      this.#stderr.push(storable(line.text.slice(0, MAX_LINE_CHARS)))
      if (this.#stderr.length > KEPT_STDERR_LINES) this.#stderr.shift()
      return
    }
    const said = eventIn(line, stream)
    if (said !== null) this.hear(said)
  }
}

function progressOf(fields: Readonly<Record<string, unknown>>): Progress {
  const { percent, operation, metrics } = fields
  return {
    percent: typeof percent === 'number' && Number.isFinite(percent) ? Math.min(100, Math.max(0, percent)) : null,
    operation: textOf(operation)?.slice(0, 500) ?? null,
    metrics: (typeof metrics === 'object' && metrics !== null && !Array.isArray(metrics)
      ? metrics
      : {}) as Progress['metrics'],
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? storable(value) : null
}

/** Stored text ends at a NUL character: it is shown as what it is, unreadable. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}
