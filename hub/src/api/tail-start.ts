import type { Fence } from '@stoker/protocol'
import type { StreamName, StreamOffsets, Streams } from '../outputs/port.ts'

const NEWLINE = 10
const PAGE_BYTES = 256 * 1024

/** Where to read from to get the last lines of an attempt, of both streams together in the order in which they were completed. */
export async function tailStart(
  streams: Streams,
  fence: Fence,
  lines: number,
  only: StreamName | undefined,
): Promise<StreamOffsets> {
  const from = await streams.seekTail(fence, lines, only)
  if (only !== undefined || lines === 0) return from
  const last = await lastLines(streams, fence, from, lines)
  const ofStdout = last.filter(stream => stream === 'stdout').length
  const { stdout } = await streams.seekTail(fence, ofStdout, 'stdout')
  const { stderr } = await streams.seekTail(fence, last.length - ofStdout, 'stderr')
  return { stdout, stderr }
}

/** To which streams the last lines belong; a line still open counts, as the last. */
async function lastLines(
  streams: Streams,
  fence: Fence,
  from: StreamOffsets,
  lines: number,
): Promise<readonly StreamName[]> {
  const at = { ...from }
  const isOpen = { stdout: false, stderr: false }
  const owners: StreamName[] = []
  for (let isEnd = false; !isEnd; ) {
    const page = await streams.read(fence, at, { maxBytes: PAGE_BYTES })
    isEnd = page.end
    for (const { stream, offset, bytes } of page.pieces) {
      at[stream] = offset + bytes.length
      for (let i = bytes.indexOf(NEWLINE); i !== -1; i = bytes.indexOf(NEWLINE, i + 1)) owners.push(stream)
      isOpen[stream] = bytes[bytes.length - 1] !== NEWLINE
    }
    owners.splice(0, owners.length - lines)
  }
  for (const stream of ['stdout', 'stderr'] as const) if (isOpen[stream]) owners.push(stream)
  return owners.slice(-lines)
}
