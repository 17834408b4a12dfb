import type { Piece } from '../events/line-cutter.ts'
import { LineCutter } from '../events/line-cutter.ts'
import { SegmentReader } from '../executors/output-files.ts'

const READ_BYTES = 256 * 1024
/** Read at once before others have their turn. */
const TURN_BYTES = 1024 * 1024

/** Reads the stdout of a session's program from where it was left, and gives it on line by line. */
export class SessionOutput {
  readonly #reader: SegmentReader
  readonly #cutter: LineCutter
  readonly #buffer = Buffer.allocUnsafe(READ_BYTES)
  readonly #take: (piece: Piece) => void
  /** Called after each read, before the bytes given on are overwritten. */
  readonly #taken: () => void
  #readAt: number
  #known = 0
  #soon: NodeJS.Immediate | null = null

  constructor(folder: string, at: number, take: (piece: Piece) => void, taken: () => void) {
    this.#reader = new SegmentReader(folder)
    this.#cutter = new LineCutter(at)
    this.#readAt = at
    this.#take = take
    this.#taken = taken
  }

  /** There is so much now: reads some of it at once, and the rest soon. */
  grew(size: number): void {
    this.#known = Math.max(this.#known, size)
    if (this.#soon === null) this.#read(TURN_BYTES)
  }

  /** Reads all that is there. */
  drain(size: number): void {
    this.#known = Math.max(this.#known, size)
    this.#read(Number.POSITIVE_INFINITY)
  }

  /** Nothing follows any more: also a line without an end is one. */
  end(): void {
    if (this.#soon !== null) clearImmediate(this.#soon)
    this.#soon = null
    this.#read(Number.POSITIVE_INFINITY)
    for (const piece of this.#cutter.end()) this.#take(piece)
    this.#taken()
    this.#reader.close()
  }

  #read(turnBytes: number): void {
    for (let left = turnBytes; this.#readAt < this.#known; ) {
      if (left <= 0) {
        this.#readSoon()
        return
      }
      const wanted = this.#buffer.subarray(0, Math.min(READ_BYTES, this.#known - this.#readAt))
      const got = this.#reader.read(this.#readAt, wanted)
      if (got === 0) return
      this.#readAt += got
      left -= got
      for (const piece of this.#cutter.push(wanted.subarray(0, got))) this.#take(piece)
      this.#taken()
    }
  }

  #readSoon(): void {
    this.#soon ??= setImmediate(() => {
      this.#soon = null
      this.#read(TURN_BYTES)
    })
  }
}
