import { type Chunk, fenceKey } from '@stoker/protocol'
import { Spool, type SpoolBatch } from '../../../worker/src/session/spool.ts'

type Entry =
  | { readonly batch: SpoolBatch }
  | { readonly ack: number }
  | { readonly epoch: number }
  | { readonly next: number; readonly taken: readonly Chunk[] }

/** Entries after which the file is written anew, as the real one does by size. */
const COMPACT_ENTRIES = 500

/** The worker's spool file: what was appended outlives the worker's process. */
export class SimSpoolFile {
  #entries: Entry[] = []

  /** Reads the file anew, as a worker does at its start. */
  open(): { readonly spool: Spool; readonly epochSeen: number; readonly endsTold: ReadonlySet<string> } {
    const saved = { next: 1, batches: [] as SpoolBatch[], taken: [] as Chunk[], epoch: 0 }
    for (const entry of this.#entries) {
      if ('batch' in entry) {
        saved.batches.push(entry.batch)
        saved.taken.push(...entry.batch.chunks)
        saved.next = entry.batch.n + 1
      } else if ('ack' in entry) saved.batches = saved.batches.filter(batch => batch.n > entry.ack)
      else if ('epoch' in entry) saved.epoch = Math.max(saved.epoch, entry.epoch)
      else {
        saved.next = Math.max(saved.next, entry.next)
        saved.taken.push(...entry.taken)
      }
    }
    const spool = new Spool(saved)
    this.#compact(spool, saved.epoch)
    const ends = spool.unacked.flatMap(batch => batch.reports).filter(r => r.kind === 'ended' || r.kind === 'declined')
    return { spool, epochSeen: saved.epoch, endsTold: new Set(ends.map(({ fence }) => fenceKey(fence))) }
  }

  record(batch: SpoolBatch): void {
    this.#entries.push({ batch })
  }

  acked(n: number, spool: Spool, epoch: number): void {
    if (this.#entries.length > COMPACT_ENTRIES) this.#compact(spool, epoch)
    else this.#entries.push({ ack: n })
  }

  sawEpoch(epoch: number): void {
    this.#entries.push({ epoch })
  }

  #compact(spool: Spool, epoch: number): void {
    this.#entries = [
      { epoch },
      { next: spool.nextNumber, taken: spool.positions },
      ...spool.unacked.map(batch => ({ batch })),
    ]
  }
}
