import type { ChunkRow, Fence, SealedRow } from '@stoker/protocol'
import { type Complain, nameFence } from './problems.ts'

const NAMES = ['stdout', 'stderr'] as const

/** Looks at all chunk rows of one attempt: each stream is one unbroken run of bytes, from the start or, where it was sealed, from anywhere. */
export function checkStreams(
  fence: Fence,
  rows: readonly ChunkRow[],
  sealed: SealedRow | null,
  complain: Complain,
): void {
  for (const [stream, name] of NAMES.entries()) {
    const pieces = rows.filter(row => row.stream === stream).sort((a, b) => a.offset - b.offset)
    let end = sealed === null ? 0 : (pieces[0]?.offset ?? 0)
    let line = sealed === null ? 0 : (pieces[0]?.line ?? 0)
    for (const piece of pieces) {
      const what = `${name} of ${nameFence(fence)}`
      if (piece.offset !== end)
        complain('f', `${what} is kept up to byte ${end}, its next piece begins at byte ${piece.offset}`)
      if (piece.line < line)
        complain('f', `${what} counts ${piece.line} lines at byte ${piece.offset}, earlier ${line}; lines only grow`)
      end = piece.offset + piece.length
      line = piece.line
    }
  }
}
