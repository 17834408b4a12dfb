import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { OutputSizes } from './port.ts'

const SEGMENT = /^stdout\.(\d+)$/

/** How much a program printed in all; stdout of one that takes lines is in segments, named by where they begin. */
export async function outputSizes(folder: string): Promise<OutputSizes> {
  const last = segmentsIn(await readdir(folder).catch(() => [])).at(-1)
  const stdout = last === undefined ? await sizeOf(join(folder, 'stdout')) : last + (await segmentSize(folder, last))
  return { stdout, stderr: await sizeOf(join(folder, 'stderr')) }
}

/** Reads the segments of a program's stdout as one long file. Where one ends, the next begins under the name of that place. */
export class SegmentReader {
  readonly #folder: string
  #start: number | null = null
  #fd: number | null = null

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Fills from the given place on; less only where the output ends for now. */
  read(at: number, bytes: Buffer): number {
    if (this.#start === null || at < this.#start) this.#open(this.#startBefore(at))
    let read = 0
    while (read < bytes.length) {
      const got = this.#readHere(at + read, bytes.subarray(read))
      read += got
      if (got === 0 && !this.#openNext(at + read)) break
    }
    return read
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
    this.#start = null
  }

  #readHere(at: number, bytes: Buffer): number {
    if (this.#fd === null || this.#start === null) return 0
    return readSync(this.#fd, bytes, 0, bytes.length, at - this.#start)
  }

  #openNext(at: number): boolean {
    return at !== this.#start && this.#open(at)
  }

  #startBefore(at: number): number {
    return segmentsIn(readdirSync(this.#folder)).findLast(start => start <= at) ?? at
  }

  #open(start: number): boolean {
    try {
      const fd = openSync(join(this.#folder, `stdout.${start}`), 'r')
      this.close()
      this.#fd = fd
      this.#start = start
      return true
    } catch {
      return false
    }
  }
}

function segmentsIn(names: readonly string[]): number[] {
  return names
    .flatMap(name => SEGMENT.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

function segmentSize(folder: string, start: number): Promise<number> {
  return sizeOf(join(folder, `stdout.${start}`))
}

function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}
