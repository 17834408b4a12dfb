import { closeSync, openSync, readSync } from 'node:fs'

const PIECE_BYTES = 64 * 1024

/** Reads files as they grow, at once: their writers may take them away in the next moment. */
export class GrownFiles {
  readonly #read = new Map<string, number>()

  /** What has come up to so many bytes, piece by piece. */
  read(file: string, bytes: number, take: (piece: Uint8Array) => void): void {
    const from = this.#read.get(file) ?? 0
    if (bytes <= from) return
    const source = openSync(file, 'r')
    try {
      const piece = Buffer.alloc(Math.min(PIECE_BYTES, bytes - from))
      for (let at = from; at < bytes; ) {
        const read = readSync(source, piece, 0, Math.min(piece.length, bytes - at), at)
        if (read === 0) break
        take(piece.subarray(0, read))
        at += read
        this.#read.set(file, at)
      }
    } finally {
      closeSync(source)
    }
  }
}
