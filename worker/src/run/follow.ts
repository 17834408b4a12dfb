import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { OutputStream } from '@stoker/protocol'
import type { ProgramWatch } from '../events/program-watch.ts'

const READ_BYTES = 256 * 1024

/** Reads an attempt's output files as they grow and lets the watch hear them; one read at a time, from where it was. */
export class OutputFollower {
  readonly #folder: string
  readonly #watch: ProgramWatch
  readonly #read: Record<OutputStream, number> = { stdout: 0, stderr: 0 }
  #reading: Promise<void> = Promise.resolve()

  constructor(folder: string, watch: ProgramWatch) {
    this.#folder = folder
    this.#watch = watch
  }

  /** Resolves when everything up to the given sizes was heard. */
  upTo(sizes: Readonly<Record<OutputStream, number>>): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      await this.#readStream('stdout', sizes.stdout)
      await this.#readStream('stderr', sizes.stderr)
    })
    return this.#reading
  }

  async #readStream(stream: OutputStream, size: number): Promise<void> {
    if (this.#read[stream] >= size) return
    const file = await open(join(this.#folder, stream))
    try {
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, size - this.#read[stream]))
      while (this.#read[stream] < size) {
        const { bytesRead } = await file.read(
          buffer,
          0,
          Math.min(buffer.length, size - this.#read[stream]),
          this.#read[stream],
        )
        if (bytesRead === 0) return
        this.#watch.push(stream, buffer.subarray(0, bytesRead))
        this.#read[stream] += bytesRead
      }
    } finally {
      await file.close()
    }
  }
}
