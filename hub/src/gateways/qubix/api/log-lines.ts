import { eventIn, type JobRow, type Level, type Line, LineSplitter, levelOf, Refused } from '@stoker/protocol'
import type { OutputPiece, StreamName, StreamOffsets, Streams } from '../../../outputs/port.ts'
import { BEGINNING, fenceOf } from '../../../serving/follow-job.ts'
import type { ConsumerContext } from './context.ts'
import { isoTime } from './provider-views.ts'

export interface LogLine {
  readonly timestamp: string
  readonly level: Level
  readonly message: string
}

const PAGE_BYTES = 256 * 1024
/** Events and logs share the streams: among so many lines for each wanted one the last logs are looked for. */
const LOOKED_PER_LINE = 5
/** As far as lines are counted from the beginning. */
const MOST_COUNTED_BYTES = 32 * 2 ** 20
const LEVELS: readonly string[] = ['debug', 'info', 'warning', 'error']

interface Wanted {
  readonly level?: Level | undefined
  readonly limit: number
}

type Ports = Pick<ConsumerContext, 'queries' | 'streams'>

/** One attempt's output as log lines; what a program says as events is no log. */
export class LogLines {
  readonly #splitters: Readonly<Record<StreamName, LineSplitter>> = {
    stdout: new LineSplitter(),
    stderr: new LineSplitter(),
  }
  #at = 0

  push(pieces: readonly OutputPiece[]): LogLine[] {
    return pieces.flatMap(({ stream, at, bytes }) => {
      this.#at = at
      return this.#splitters[stream].push(bytes).flatMap(line => logIn(line, stream, at))
    })
  }

  /** A last line needs no newline. */
  end(): LogLine[] {
    return (['stdout', 'stderr'] as const).flatMap(stream =>
      this.#splitters[stream].end().flatMap(line => logIn(line, stream, this.#at)),
    )
  }
}

/** The last lines of the last attempt. */
export async function lastLogs({ queries, streams }: Ports, row: JobRow, { level, limit }: Wanted): Promise<LogLine[]> {
  if (row.attempts === 0) return []
  const fence = await fenceOf(queries, row, row.attempts)
  const from = await streams.seekTail(fence, limit * LOOKED_PER_LINE)
  const found: LogLine[] = []
  for await (const lines of logsFrom(streams, fence, from)) {
    found.push(...lines.filter(line => level === undefined || line.level === level))
    found.splice(0, Math.max(0, found.length - limit))
  }
  return found
}

/** The lines of the last attempt behind so many, in their order. */
export async function logsBehind(
  { queries, streams }: Ports,
  row: JobRow,
  offset: number,
  { level, limit }: Wanted,
): Promise<{ readonly logs: LogLine[]; readonly hasMore: boolean }> {
  if (row.attempts === 0) return { logs: [], hasMore: false }
  const fence = await fenceOf(queries, row, row.attempts)
  const logs: LogLine[] = []
  let passed = 0
  for await (const lines of logsFrom(streams, fence, BEGINNING))
    for (const line of lines) {
      if (level !== undefined && line.level !== level) continue
      if (logs.length === limit) return { logs, hasMore: true }
      if (passed === offset) logs.push(line)
      else passed += 1
    }
  return { logs, hasMore: false }
}

async function* logsFrom(
  streams: Streams,
  fence: Parameters<Streams['read']>[0],
  from: StreamOffsets,
): AsyncGenerator<LogLine[], void> {
  const lines = new LogLines()
  const size = await streams.sizes(fence)
  const at = { ...from }
  let seen = 0
  while (at.stdout < size.stdout || at.stderr < size.stderr) {
    const { pieces, end } = await streams.read(fence, at, { maxBytes: PAGE_BYTES })
    for (const { stream, offset, bytes } of pieces) {
      at[stream] = offset + bytes.length
      seen += bytes.length
    }
    yield lines.push(pieces)
    if (end) break
    if (seen > MOST_COUNTED_BYTES)
      throw new Refused(
        'request.invalid',
        `the lines asked for lie behind the first ${MOST_COUNTED_BYTES / 2 ** 20} MiB of output; the hub's own API reads further`,
      )
  }
  yield lines.end()
}

function logIn(line: Line, stream: StreamName, at: number): LogLine[] {
  const said = eventIn(line, stream)
  const timestamp = isoTime(at)
  if (said === null) return [{ timestamp, level: levelOf(line.text), message: line.text }]
  const { log, level } = said.fields
  if (said.event !== 'logs' || typeof log !== 'string') return []
  const known = typeof level === 'string' && LEVELS.includes(level) ? (level as Level) : levelOf(log)
  return [{ timestamp, level: known, message: log }]
}
