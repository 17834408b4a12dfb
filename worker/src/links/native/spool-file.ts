import { closeSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { AttemptReport, Chunk } from '@stoker/protocol'
import { z } from 'zod'
import { wholeLines } from '../../run/whole-lines.ts'
import { Spool, type SpoolBatch } from '../../session/spool.ts'

/** Above this the file is written anew with only what still matters. */
const COMPACT_BYTES = 512 * 1024

const Batch = z.object({ n: z.number(), reports: z.array(AttemptReport), chunks: z.array(Chunk) })
const Entry = z.union([
  z.object({ batch: Batch }),
  z.object({ ack: z.number() }),
  z.object({ epoch: z.number() }),
  z.object({ next: z.number(), taken: z.array(Chunk) }),
])

/** The spool on disk: each batch is appended before its first sending, in the page cache, which outlives the worker's death. */
export class SpoolFile {
  readonly spool: Spool
  readonly epochSeen: number
  readonly #path: string
  #fd: number
  #bytes: number

  constructor(path: string) {
    this.#path = path
    const saved = replay(path)
    this.spool = new Spool(saved)
    this.epochSeen = saved.epoch
    this.#fd = openSync(path, 'a', 0o600)
    this.#bytes = 0
    this.#compact(saved.epoch)
  }

  /** Attempts whose end was recorded: it will be resent from here, not told anew. */
  get endsTold(): ReadonlySet<string> {
    const ends = this.spool.unacked
      .flatMap(batch => batch.reports)
      .filter(r => r.kind === 'ended' || r.kind === 'declined')
    return new Set(ends.map(({ fence }) => `${fence.job}-${fence.epoch}-${fence.attempt}`))
  }

  /** Takes the batch as the JSON that is sent. */
  record(batch: string): void {
    this.#write(`{"batch":${batch}}`)
  }

  acked(n: number, epoch: number): void {
    if (this.#bytes > COMPACT_BYTES) this.#compact(epoch)
    else this.#append({ ack: n })
  }

  sawEpoch(epoch: number): void {
    this.#append({ epoch })
  }

  close(): void {
    closeSync(this.#fd)
  }

  #append(entry: z.infer<typeof Entry>): void {
    this.#write(JSON.stringify(entry))
  }

  #write(line: string): void {
    this.#bytes += writeSync(this.#fd, `${line}\n`)
  }

  #compact(epoch: number): void {
    const entries = [
      { epoch },
      { next: this.spool.nextNumber, taken: this.spool.positions },
      ...this.spool.unacked.map(batch => ({ batch })),
    ]
    const fresh = `${this.#path}.new`
    writeFileSync(fresh, entries.map(entry => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 })
    renameSync(fresh, this.#path)
    closeSync(this.#fd)
    this.#fd = openSync(this.#path, 'a', 0o600)
    this.#bytes = 0
  }
}

function replay(path: string): { next: number; batches: SpoolBatch[]; taken: Chunk[]; epoch: number } {
  const state = { next: 1, batches: [] as SpoolBatch[], taken: [] as Chunk[], epoch: 0 }
  for (const line of wholeLines(path)) {
    const entry = Entry.parse(JSON.parse(line))
    if ('batch' in entry) {
      state.batches.push(entry.batch)
      state.taken.push(...entry.batch.chunks)
      state.next = entry.batch.n + 1
    } else if ('ack' in entry) state.batches = state.batches.filter(batch => batch.n > entry.ack)
    else if ('epoch' in entry) state.epoch = Math.max(state.epoch, entry.epoch)
    else {
      state.next = Math.max(state.next, entry.next)
      state.taken.push(...entry.taken)
    }
  }
  return state
}
