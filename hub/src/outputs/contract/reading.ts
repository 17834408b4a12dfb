import type { Fence } from '@stoker/protocol'
import type { OutputChunk, OutputPiece, StreamName, StreamOffsets, Streams } from '../port.ts'

export const START: StreamOffsets = { stdout: 0, stderr: 0 }

export function aFence(job = 1): Fence {
  return { job, epoch: 3, attempt: 1 }
}

/** A chunk of text; bytes are one per character. */
export function aChunk(offset: number, text: string, more: Partial<OutputChunk> = {}): OutputChunk {
  return { fence: aFence(), stream: 'stdout', offset, at: 1_000, bytes: Buffer.from(text, 'latin1'), ...more }
}

/** Reads page by page as a viewer would, and fails if a page does not continue the one before. */
export async function readAll(
  streams: Streams,
  fence: Fence,
  options: { readonly from?: StreamOffsets; readonly stream?: StreamName; readonly maxBytes?: number } = {},
): Promise<{ readonly pieces: readonly OutputPiece[]; readonly stdout: string; readonly stderr: string }> {
  const next = { ...(options.from ?? START) }
  const pieces: OutputPiece[] = []
  for (let end = false; !end; ) {
    const page = await streams.read(fence, next, { stream: options.stream, maxBytes: options.maxBytes ?? 1_000_000 })
    for (const piece of page.pieces) {
      if (piece.offset !== next[piece.stream]) {
        throw new Error(`${piece.stream} should go on at byte ${next[piece.stream]}, it does at ${piece.offset}`)
      }
      next[piece.stream] += piece.bytes.length
      pieces.push(piece)
    }
    if (!page.end && page.pieces.length === 0) throw new Error('a page says there is more, it has nothing')
    end = page.end
  }
  return { pieces, stdout: textOf(pieces, 'stdout'), stderr: textOf(pieces, 'stderr') }
}

function textOf(pieces: readonly OutputPiece[], stream: StreamName): string {
  const own = pieces.filter(piece => piece.stream === stream)
  return Buffer.concat(own.map(piece => piece.bytes)).toString('latin1')
}
