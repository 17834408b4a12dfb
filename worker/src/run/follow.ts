import { join } from 'node:path'
import type { OutputStream } from '@stoker/protocol'
import type { ProgramWatch } from '../events/program-watch.ts'
import { readRange } from './read-range.ts'
import { saidBefore } from './set-up-log.ts'

const READ_BYTES = 256 * 1024

/** Reads an attempt's output files as they grow and lets the watch hear them; one read at a time, from where it was. */
export class OutputFollower {
  readonly #folder: string
  readonly #watch: ProgramWatch
  readonly #read: Record<OutputStream, number>
  #reading: Promise<void> = Promise.resolve()

  constructor(folder: string, watch: ProgramWatch) {
    this.#folder = folder
    this.#watch = watch
    this.#read = { stdout: 0, stderr: saidBefore(folder) }
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
    while (this.#read[stream] < size) {
      const from = this.#read[stream]
      const bytes = await readRange(join(this.#folder, stream), from, Math.min(READ_BYTES, size - from))
      if (bytes.length === 0) return
      this.#watch.push(stream, bytes)
      this.#read[stream] += bytes.length
    }
  }
}
