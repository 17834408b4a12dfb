import { join } from 'node:path'
import { eventIn, type Level, type Line, LineSplitter, type OutputStream } from '@stoker/protocol'
import { readRange } from '../../run/read-range.ts'

const READ_BYTES = 256 * 1024
/** Nobody reads a longer line in a log. */
const MAX_LINE_BYTES = 16 * 1024
/** A program that prints faster than its hub takes lines is not followed line by line: the last of it says more than the first. */
const MAX_BEHIND_BYTES = 4 * 1024 * 1024

export type Sizes = Readonly<Record<OutputStream, number>>

export interface LogLine {
  readonly stream: OutputStream
  readonly level: Level
  readonly text: string
}

export interface LogPart {
  readonly lines: readonly LogLine[]
  /** Where the next part begins, once this one is safe at the hub. */
  readonly upTo: Sizes
  readonly hasMoved: boolean
  readonly hasMore: boolean
}

/** The next lines of an attempt's output, from its files: nothing is held in memory, so a hub may be away as long as it likes. */
export async function nextLines(
  folder: string,
  from: Sizes,
  sizes: Sizes,
  { max, hasEnded }: { readonly max: number; readonly hasEnded: boolean },
): Promise<LogPart> {
  const stderr = await streamLines(folder, 'stderr', from.stderr, sizes.stderr, { max, hasEnded })
  const room = max - stderr.lines.length
  const stdout =
    room <= 0
      ? { lines: [], upTo: from.stdout }
      : await streamLines(folder, 'stdout', from.stdout, sizes.stdout, { max: room, hasEnded })
  const upTo = { stdout: stdout.upTo, stderr: stderr.upTo }
  return {
    lines: [...stderr.lines, ...stdout.lines],
    upTo,
    hasMoved: upTo.stdout > from.stdout || upTo.stderr > from.stderr,
    hasMore: upTo.stdout < sizes.stdout || upTo.stderr < sizes.stderr,
  }
}

interface StreamPart {
  readonly lines: readonly LogLine[]
  readonly upTo: number
}

async function streamLines(
  folder: string,
  stream: OutputStream,
  from: number,
  size: number,
  { max, hasEnded }: { readonly max: number; readonly hasEnded: boolean },
): Promise<StreamPart> {
  if (size - from > MAX_BEHIND_BYTES) return skipAhead(stream, from, size)
  if (size <= from) return { lines: [], upTo: from }
  const bytes = await readRange(join(folder, stream), from, Math.min(READ_BYTES, size - from)).catch(() => null)
  if (bytes === null)
    return { lines: [{ stream, level: 'warning', text: `… ${stream} cannot be read any more` }], upTo: size }
  const splitter = new LineSplitter(from, { maxBytes: MAX_LINE_BYTES, keepBlank: true })
  const whole = splitter.push(bytes)
  const isAll = from + bytes.length >= size
  const found = isAll && hasEnded ? [...whole, ...splitter.end()] : whole
  if (found.length === 0) return unfinished(stream, splitter, from, bytes.length)
  const taken = found.slice(0, max)
  return { lines: taken.flatMap(line => logLine(line, stream)), upTo: taken.at(-1)?.endOffset ?? from }
}

/** A line that fills all that was read is told as far as it goes; any other one is waited for. */
function unfinished(stream: OutputStream, splitter: LineSplitter, from: number, length: number): StreamPart {
  if (length < READ_BYTES) return { lines: [], upTo: from }
  return { lines: splitter.end().flatMap(line => logLine(line, stream)), upTo: from + length }
}

function skipAhead(stream: OutputStream, from: number, size: number): StreamPart {
  const upTo = size - MAX_BEHIND_BYTES / 2
  return { lines: [{ stream, level: 'warning', text: `… ${upTo - from} bytes of ${stream} are left out here` }], upTo }
}

/** Events are said in other ways; what a program gives as a log event is a line like the others. */
function logLine(line: Line, stream: OutputStream): LogLine[] {
  const said = eventIn(line, stream)
  if (said === null) return [{ stream, level: stream === 'stderr' ? 'warning' : 'info', text: line.text }]
  const { log, level } = said.fields
  return said.event === 'logs' && typeof log === 'string' ? [{ stream, level: levelOf(level), text: log }] : []
}

function levelOf(level: unknown): Level {
  return level === 'debug' || level === 'warning' || level === 'error' ? level : 'info'
}

/** The last lines of a stream, as a person would look at them; every line cut to what a report can carry. */
export async function lastLines(folder: string, stream: OutputStream, size: number, max: number): Promise<string[]> {
  if (size === 0) return []
  const from = Math.max(0, size - READ_BYTES)
  const bytes = await readRange(join(folder, stream), from, size - from).catch(() => new Uint8Array())
  const splitter = new LineSplitter(0, { maxBytes: MAX_LINE_BYTES, keepBlank: true })
  const lines = [...splitter.push(bytes), ...splitter.end()].map(line => line.text)
  return (from > 0 ? lines.slice(1) : lines).slice(-max)
}
