import { type JobRow, LineSplitter } from '@stoker/protocol'
import type { StreamName, StreamOffsets } from '../../../outputs/port.ts'
import { fenceOf } from '../../../serving/follow-job.ts'
import type { ConsumerContext } from './context.ts'
import { isoTime } from './iso-time.ts'
import type { LogLine } from './job-record.ts'

/** What one answer holds at most, however long the lines are. */
const MAX_BYTES = 4 * 1024 * 1024
const WHOLE = { keepBlank: true }

export interface LogTail {
  readonly lines: readonly LogLine[]
  /** There was more before. */
  readonly isCut: boolean
}

/** The last lines of a job's last attempt, both streams in the order they came. */
export async function logTail(
  { queries, streams }: Pick<ConsumerContext, 'queries' | 'streams'>,
  row: JobRow,
  most: number,
): Promise<LogTail> {
  if (row.attempts === 0) return { lines: [], isCut: false }
  const fence = await fenceOf(queries, row, row.attempts)
  const found = await streams.seekTail(fence, most)
  const sizes = await streams.sizes(fence)
  const from = notTooFar(found, sizes)
  const { pieces } = await streams.read(fence, from, { maxBytes: MAX_BYTES })
  const splitters = { stdout: new LineSplitter(0, WHOLE), stderr: new LineSplitter(0, WHOLE) }
  const lines: LogLine[] = pieces.flatMap(({ stream, bytes, at }) =>
    splitters[stream].push(bytes).map(line => ({ timestamp: isoTime(at), message: line.text })),
  )
  const last = isoTime(pieces.at(-1)?.at ?? row.submittedAt)
  for (const stream of ['stdout', 'stderr'] as const)
    lines.push(...splitters[stream].end().map(line => ({ timestamp: last, message: line.text })))
  return { lines: lines.slice(-most), isCut: lines.length > most || from.stdout + from.stderr > 0 }
}

function notTooFar(from: StreamOffsets, sizes: StreamOffsets): StreamOffsets {
  const near = (stream: StreamName) => Math.max(from[stream], sizes[stream] - MAX_BYTES / 2)
  return { stdout: near('stdout'), stderr: near('stderr') }
}
