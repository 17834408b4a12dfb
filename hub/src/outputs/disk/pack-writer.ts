import { rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { syncFolder } from '@stoker/files'
import type { Fence, SealedRow } from '@stoker/protocol'
import type { AttemptSpans } from '../attempt-spans.ts'
import { countNewlines } from '../newlines.ts'
import { DiskFullOutputs, type OutputPiece } from '../port.ts'
import { readPage } from '../read-page.ts'
import type { Storage } from '../storage.ts'
import { type AppendFile, type CreateFile, isFull, writeAll } from './append-file.ts'
import { type Layout, packPath, unfinishedPackPath } from './layout.ts'
import { type BlockRow, encodeBlock, encodeIndex, PACK_HEADER, type StreamPart } from './pack-entry.ts'

const compress = promisify(gzip)

/** What a reader of one line must decompress. */
const BLOCK_BYTES = 1024 * 1024
/** Logs shrink nearly as much as with the default, in half the time of a core the hub also needs. */
const LEVEL = 4

/** Writes one pack; it exists under its name only when it is complete and safe. */
export class PackWriter {
  readonly pack: number
  length = 0
  readonly #file: AppendFile
  readonly #layout: Layout

  private constructor(layout: Layout, pack: number, file: AppendFile) {
    this.#layout = layout
    this.pack = pack
    this.#file = file
  }

  static async create(layout: Layout, pack: number, create: CreateFile): Promise<PackWriter> {
    const file = await create(unfinishedPackPath(layout, pack)).catch(error => {
      throw isFull(error) ? new DiskFullOutputs(error) : error
    })
    const writer = new PackWriter(layout, pack, file)
    try {
      await writer.#write(PACK_HEADER)
    } catch (error) {
      await writer.discard()
      throw error
    }
    return writer
  }

  /** Copies an attempt's whole output block by block, so its size does not matter to memory; a failure leaves no trace in the pack. */
  async add(fence: Fence, spans: AttemptSpans, storage: Storage): Promise<SealedRow> {
    const position = this.length
    try {
      const rows = await this.#addBlocks(spans, storage)
      await this.#write(encodeIndex(fence, rows, this.length - position))
    } catch (error) {
      this.length = position
      await this.#file.truncate(position)
      throw error
    }
    const { job, epoch, attempt } = fence
    return { job, epoch, attempt, pack: this.pack, position, length: this.length - position }
  }

  async #addBlocks(spans: AttemptSpans, storage: Storage): Promise<BlockRow[]> {
    const start = this.length
    const rows: BlockRow[] = []
    let ends: Ends = [START, START]
    for (;;) {
      const from = { stdout: ends[0].offset, stderr: ends[1].offset }
      const { pieces } = await readPage(storage, spans, from, { maxBytes: BLOCK_BYTES })
      if (pieces.length === 0) return rows
      const block = await compress(encodeBlock(pieces), { level: LEVEL })
      rows.push({ position: this.length - start, length: block.length, streams: partsOf(pieces, ends) })
      await this.#write(block)
      ends = advance(ends, pieces)
    }
  }

  /** From here on rows may refer to the pack. */
  async finish(): Promise<void> {
    await this.#file.datasync()
    await this.#file.close()
    await rename(unfinishedPackPath(this.#layout, this.pack), packPath(this.#layout, this.pack))
    await syncFolder(this.#layout.packs)
  }

  async discard(): Promise<void> {
    await this.#file.close()
    await rm(unfinishedPackPath(this.#layout, this.pack), { force: true })
  }

  async #write(bytes: Buffer): Promise<void> {
    await writeAll(this.#file, bytes, this.length)
    this.length += bytes.length
  }
}

interface End {
  readonly offset: number
  readonly line: number
}
type Ends = readonly [End, End]
const START: End = { offset: 0, line: 0 }

function partsOf(pieces: readonly OutputPiece[], ends: Ends): readonly [StreamPart, StreamPart] {
  const part = (name: string, { offset, line }: End): StreamPart => {
    const own = pieces.filter(piece => piece.stream === name)
    const length = own.reduce((sum, piece) => sum + piece.bytes.length, 0)
    return { offset, length, line, at: own.reduce((latest, piece) => Math.max(latest, piece.at), -Infinity) }
  }
  return [part('stdout', ends[0]), part('stderr', ends[1])]
}

function advance(ends: Ends, pieces: readonly OutputPiece[]): Ends {
  const next: [End, End] = [...ends]
  for (const { stream, bytes } of pieces) {
    const i = stream === 'stdout' ? 0 : 1
    next[i] = { offset: next[i].offset + bytes.length, line: next[i].line + countNewlines(bytes) }
  }
  return next
}
