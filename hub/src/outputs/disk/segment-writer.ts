import { rm } from 'node:fs/promises'
import { syncFolder } from '@stoker/files'
import { DiskFullOutputs } from '../port.ts'
import type { PendingWrite, Place } from '../storage.ts'
import { type AppendFile, type CreateFile, isFull, writeAll } from './append-file.ts'
import { type Layout, segmentPath } from './layout.ts'
import { encodeRecord, RECORD_HEADER_BYTES, SEGMENT_HEADER } from './record.ts'

/** A longer sync would make the store's commits beside it wait. */
const GROUP_BYTES = 8 * 1024 * 1024

export interface WriterOptions {
  readonly layout: Layout
  readonly firstSegment: number
  readonly segmentBytes: number
  readonly create: CreateFile
  readonly now: () => number
}

interface OpenSegment {
  readonly number: number
  readonly file: AppendFile
  readonly createdAt: number
  tail: number
}

/*
 * idle ──enqueue──► writing: one group at a time, one sync per group; what comes meanwhile is the next group ──queue empty──► idle
 * writing ──no room──► the group and all behind it fail, the segment ends where it did ──► idle
 * writing ──any other error──► broken: whether bytes are safe is unknown and a second sync would lie, so all writes fail for ever
 */
/** Appends the records of all attempts to one segment after the other. */
export class SegmentWriter {
  readonly closed = new Set<number>()
  readonly #options: WriterOptions
  readonly #queue: PendingWrite[] = []
  #segment: OpenSegment
  #nextNumber: number
  #buffer = Buffer.allocUnsafeSlow(64 * 1024)
  #running: Promise<void> | null = null
  #broken: { readonly error: unknown } | null = null
  #rollNext = false
  #closing: Promise<void> | null = null

  private constructor(options: WriterOptions, segment: OpenSegment) {
    this.#options = options
    this.#segment = segment
    this.#nextNumber = segment.number + 1
  }

  static async open(options: WriterOptions): Promise<SegmentWriter> {
    return new SegmentWriter(options, await createSegment(options, options.firstSegment))
  }

  enqueue(write: PendingWrite): void {
    this.#queue.push(write)
    this.#running ??= this.#run()
  }

  /** Closes the current segment if it has bytes and is older than this, so that a quiet hub seals too. */
  async rollIfOlder(ageMs: number): Promise<void> {
    const { tail, createdAt } = this.#segment
    if (tail <= SEGMENT_HEADER.length || this.#options.now() - createdAt < ageMs) return
    this.#rollNext = true
    await new Promise<void>((resolve, reject) => {
      this.enqueue({ records: [], synced: () => resolve(), failed: reject })
    })
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#running
    this.#broken ??= { error: new Error('the streams are closed, a write came after that') }
    await this.#segment.file.close()
  }

  async #run(): Promise<void> {
    await null
    while (this.#queue.length > 0) {
      const group = this.#takeGroup()
      try {
        if (this.#broken !== null) throw this.#broken.error
        const places = await this.#writeGroup(group)
        for (const [i, write] of group.entries()) write.synced(places[i] ?? [])
      } catch (error) {
        this.#fail([...group, ...this.#queue.splice(0)], error)
      }
    }
    this.#running = null
  }

  #fail(writes: readonly PendingWrite[], error: unknown): void {
    if (!(error instanceof DiskFullOutputs) && this.#broken === null) this.#broken = { error }
    for (const write of writes) write.failed(error)
  }

  #takeGroup(): PendingWrite[] {
    let bytes = 0
    let count = 0
    for (const write of this.#queue) {
      bytes += sizeOf(write)
      if (count > 0 && bytes > GROUP_BYTES) break
      count++
    }
    return this.#queue.splice(0, count)
  }

  async #writeGroup(group: readonly PendingWrite[]): Promise<Place[][]> {
    if (this.#rollNext || this.#segment.tail >= this.#options.segmentBytes) await this.#roll()
    const size = group.reduce((sum, write) => sum + sizeOf(write), 0)
    if (size === 0) return []
    const { number, file, tail } = this.#segment
    if (this.#buffer.length < size) this.#buffer = Buffer.allocUnsafeSlow(Math.max(size, this.#buffer.length * 2))
    let used = 0
    const places = group.map(write =>
      write.records.map(record => {
        const position = tail + used
        used = encodeRecord(record, this.#buffer, used)
        return { segment: number, position }
      }),
    )
    await writeAll(file, this.#buffer.subarray(0, used), tail)
    await file.datasync()
    this.#segment.tail = tail + used
    return places
  }

  async #roll(): Promise<void> {
    const old = this.#segment
    this.#segment = await createSegment(this.#options, this.#nextNumber++)
    this.#rollNext = false
    this.closed.add(old.number)
    await old.file.close()
  }
}

/** A failed number is not used again, whatever is left of its file; the sweep of the next start removes it. */
async function createSegment({ layout, create, now }: WriterOptions, number: number): Promise<OpenSegment> {
  const path = segmentPath(layout, number)
  const file = await create(path).catch(error => {
    throw isFull(error) ? new DiskFullOutputs(error) : error
  })
  try {
    await writeAll(file, SEGMENT_HEADER, 0)
    await file.datasync()
    await syncFolder(layout.segments)
  } catch (error) {
    await file.close()
    await rm(path, { force: true })
    throw error
  }
  return { number, file, createdAt: now(), tail: SEGMENT_HEADER.length }
}

function sizeOf(write: PendingWrite): number {
  return write.records.reduce((sum, record) => sum + RECORD_HEADER_BYTES + record.bytes.length, 0)
}
