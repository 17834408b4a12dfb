import { rm } from 'node:fs/promises'
import { type ChunkRow, type Fence, fenceKey, type RowWrite, type SealedRow } from '@stoker/protocol'
import { type AttemptSpans, endOf, joinSpans } from '../attempt-spans.ts'
import { DamagedOutput, type OutputIndex } from '../port.ts'
import { SegmentGone, type Storage } from '../storage.ts'
import type { SweepView } from '../streams.ts'
import type { CreateFile } from './append-file.ts'
import { type Layout, packPath, segmentPath } from './layout.ts'
import { packFences } from './pack-reader.ts'
import { PackWriter } from './pack-writer.ts'

/** Bounds the commit that refers to a pack. */
const PACK_ATTEMPTS = 500
const PACK_BYTES = 64 * 1024 * 1024
const PACK_CHUNKS = 100_000
/** A larger commit would hold up the hub's own. */
const COMMIT_ROWS = 2_000

export interface Sweep {
  readonly layout: Layout
  readonly index: OutputIndex
  readonly storage: Storage
  readonly create: CreateFile
  readonly commit: (rows: RowWrite[]) => Promise<void>
  /** Segments nothing is appended to any more. */
  readonly closed: Set<number>
  readonly nextPack: () => number
  /** Packs whose rows may not have been committed. */
  readonly doubtful: Set<number>
}

/**
 * A closed segment whose attempts have all ended is emptied: each of them is sealed whole, wherever its chunks lie.
 * Order of safety: pack synced and named → sealed rows committed → chunk rows deleted → segment deleted once no row refers to it.
 * A damaged attempt stays where it is; its error is thrown after all others were sealed.
 */
export async function sweepSegments(sweep: Sweep, view: SweepView): Promise<void> {
  const damage: unknown[] = []
  for (const pack of sweep.doubtful) {
    await removeIfOrphan(sweep.layout, pack, sweep.index)
    sweep.doubtful.delete(pack)
  }
  for (const segment of [...sweep.closed].sort((a, b) => a - b)) {
    const attempts = await sweep.index.segmentAttempts(segment)
    if (!attempts.every(attempt => attempt.ended)) continue
    for (let rest: readonly Fence[] = attempts; rest.length > 0; ) {
      rest = rest.slice(await sealSome(sweep, view, rest, damage))
    }
    await deleteIfEmpty(sweep, view, segment)
  }
  if (damage.length > 0) throw new AggregateError(damage, `${damage.length} outputs should be sealed, they are damaged`)
}

/** Removes a pack no row refers to and tells whether it did; a pack that cannot be read is kept. */
export async function removeIfOrphan(layout: Layout, pack: number, index: OutputIndex): Promise<boolean> {
  try {
    for await (const { job, epoch, attempt } of packFences(layout, pack)) {
      if ((await index.sealed(job, epoch, attempt))?.pack === pack) return false
    }
  } catch (error) {
    if (error instanceof DamagedOutput) return false
    throw error
  }
  await rm(packPath(layout, pack))
  return true
}

/** Seals as many attempts as one pack takes and tells how many those were. */
async function sealSome(sweep: Sweep, view: SweepView, attempts: readonly Fence[], damage: unknown[]): Promise<number> {
  const writer = await PackWriter.create(sweep.layout, sweep.nextPack(), sweep.create)
  const sealed: SealedRow[] = []
  const covered: ChunkRow[] = []
  let seen = 0
  try {
    for (const { job, epoch, attempt } of attempts) {
      if (sealed.length >= PACK_ATTEMPTS || writer.length >= PACK_BYTES || covered.length >= PACK_CHUNKS) break
      seen++
      const copy = await copyOutput(sweep, writer, { job, epoch, attempt }, damage)
      covered.push(...copy.covered)
      if (copy.sealed !== null) sealed.push(copy.sealed)
    }
    if (sealed.length > 0) await writer.finish()
  } catch (error) {
    await writer.discard().catch(() => undefined)
    throw error
  }
  if (sealed.length === 0) await writer.discard()
  await refer(sweep, writer.pack, sealed, covered)
  for (const { job, epoch, attempt } of attempts.slice(0, seen)) view.spans.forget({ job, epoch, attempt })
  return seen
}

interface Copied {
  readonly sealed: SealedRow | null
  /** Rows whose bytes are in a pack now. */
  readonly covered: readonly ChunkRow[]
}

/** Output that was sealed before and got no new bytes is not copied again: its rows are what a crash left over. */
async function copyOutput(sweep: Sweep, writer: PackWriter, fence: Fence, damage: unknown[]): Promise<Copied> {
  try {
    const covered = await sweep.index.chunks(fence.job, fence.epoch, fence.attempt)
    const blocks = await sweep.storage.sealedSpans(fence)
    if (coversAll(joinSpans(blocks, []), covered)) return { sealed: null, covered }
    const spans = joinSpans(blocks, covered)
    if (!coversAll(spans, covered)) {
      throw new DamagedOutput(`attempt ${fenceKey(fence)} has ${covered.length} rows, between them bytes are missing`)
    }
    return { sealed: await writer.add(fence, spans, sweep.storage), covered }
  } catch (error) {
    if (!(error instanceof DamagedOutput || error instanceof SegmentGone)) throw error
    damage.push(error)
    return { sealed: null, covered: [] }
  }
}

function coversAll(spans: AttemptSpans, rows: readonly ChunkRow[]): boolean {
  const ends = [endOf(spans[0]), endOf(spans[1])]
  return rows.every(row => row.offset + row.length <= (ends[row.stream] ?? 0))
}

/** Only the copied rows are deleted, each by its key: bytes that came meanwhile have rows of their own, which stay. */
async function refer(
  sweep: Sweep,
  pack: number,
  sealed: readonly SealedRow[],
  covered: readonly ChunkRow[],
): Promise<void> {
  if (sealed.length > 0) {
    sweep.doubtful.add(pack)
    await sweep.commit(sealed.map(row => ({ op: 'put', table: 'sealed', row })))
    sweep.doubtful.delete(pack)
  }
  for (let from = 0; from < covered.length; from += COMMIT_ROWS) {
    await sweep.commit(covered.slice(from, from + COMMIT_ROWS).map(deleteChunk))
  }
}

function deleteChunk({ job, epoch, attempt, stream, offset }: ChunkRow): RowWrite {
  return { op: 'delete', table: 'chunk', key: { job, epoch, attempt, stream, offset } }
}

/** Rows on their way are asked for before those in the store: in the other order one could slip through between. */
async function deleteIfEmpty({ layout, index, closed }: Sweep, { live }: SweepView, segment: number): Promise<void> {
  if (live.refersTo(segment) || (await index.segmentAttempts(segment)).length > 0) return
  await rm(segmentPath(layout, segment), { force: true })
  closed.delete(segment)
}
