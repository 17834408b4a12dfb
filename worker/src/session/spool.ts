import { type AttemptReport, type Chunk, type Fence, fenceKey, type OutputStream, type Report } from '@stoker/protocol'

const MAX_BATCH_BYTES = 256 * 1024
const MAX_LANE_BYTES = 64 * 1024
/** Large enough that a commit of the hub is worth it, small enough that the hub decides about one while the next is made. */
const MAX_BATCH_REPORTS = 512
/** Batches on their way at once: enough to hide a slow acknowledgement, few enough to resend. */
const MAX_UNACKED = 64

/** A batch as it was first sent and as it will be sent again: reports, and ranges of the output files. */
export type SpoolBatch = Pick<Report, 'n' | 'reports' | 'chunks'>

/** A spool as it was before its worker died: what was not acknowledged, and how far each output was taken. */
export interface SavedSpool {
  readonly next: number
  readonly batches: readonly SpoolBatch[]
  readonly taken: readonly Chunk[]
}

/** What one attempt still has to tell. Output before the end, so that the end is the last word. */
interface Lane {
  readonly fence: Fence
  reports: AttemptReport[]
  readonly known: Record<OutputStream, number>
  readonly taken: Record<OutputStream, number>
  queued: boolean
}

/**
 * The spool: what happened and was not yet acknowledged. A batch is numbered once, recorded before its first sending,
 * and resent as recorded, so the hub can tell a repeat from news. Attempts take turns: a flood of one does not silence the others.
 */
export class Spool {
  readonly #lanes = new Map<string, Lane>()
  readonly #ready: Lane[] = []
  #unacked: SpoolBatch[]
  #unackedBytes: number
  #next: number

  constructor(saved: SavedSpool = { next: 1, batches: [], taken: [] }) {
    this.#next = saved.next
    this.#unacked = [...saved.batches]
    this.#unackedBytes = saved.batches.reduce((sum, batch) => sum + bytesOf(batch), 0)
    for (const chunk of saved.taken) this.#advance(chunk)
  }

  /** The number the next new batch will get. */
  get nextNumber(): number {
    return this.#next
  }

  /** How far each attempt's output was taken into batches: one chunk per stream that covers it all. */
  get positions(): readonly Chunk[] {
    return [...this.#lanes.values()].flatMap(({ fence, taken }) =>
      (['stdout', 'stderr'] as const)
        .filter(stream => taken[stream] > 0)
        .map(stream => ({ fence, stream, offset: 0, length: taken[stream], at: 0 })),
    )
  }

  /** The lowest number that may still be sent. */
  get firstUnacked(): number {
    return this.#unacked[0]?.n ?? this.#next
  }

  get unackedBytes(): number {
    return this.#unackedBytes
  }

  get unacked(): readonly SpoolBatch[] {
    return this.#unacked
  }

  get isEmpty(): boolean {
    return this.#unacked.length === 0 && this.#ready.length === 0
  }

  /** Something is in no batch yet. */
  get hasWaiting(): boolean {
    return this.#ready.length > 0
  }

  /** More waits than one batch takes: there is no use in gathering any longer. */
  get hasFullBatch(): boolean {
    return this.#ready.length >= MAX_BATCH_REPORTS
  }

  report(report: AttemptReport): void {
    const lane = this.#lane(report.fence)
    lane.reports.push(report)
    this.#enqueue(lane)
  }

  outputGrew(fence: Fence, sizes: Readonly<Record<OutputStream, number>>): void {
    const lane = this.#lane(fence)
    lane.known.stdout = Math.max(lane.known.stdout, sizes.stdout)
    lane.known.stderr = Math.max(lane.known.stderr, sizes.stderr)
    if (hasOutput(lane)) this.#enqueue(lane)
  }

  /** The next batch to record and send, or null if there is nothing to say or no credit to say it. */
  next(now: number, creditBytes: number): SpoolBatch | null {
    if (this.#ready.length === 0 || this.#unacked.length >= MAX_UNACKED) return null
    const room = Math.min(MAX_BATCH_BYTES, creditBytes - this.#unackedBytes)
    if (room <= 0 && !this.#ready.some(lane => !hasOutput(lane))) return null
    const reports: AttemptReport[] = []
    const chunks: Chunk[] = []
    this.#fill(reports, chunks, Math.max(0, room), now)
    if (reports.length === 0 && chunks.length === 0) return null
    const batch = { n: this.#next, reports, chunks }
    this.#next += 1
    this.#unacked.push(batch)
    this.#unackedBytes += bytesOf(batch)
    return batch
  }

  /** Forgets what is durable at the hub. Attempts whose end was acknowledged are returned: nothing more will be asked of them. */
  ack(n: number): readonly Fence[] {
    const unacked = this.#unacked
    this.#unacked = unacked.filter(batch => batch.n > n)
    this.#next = Math.max(this.#next, n + 1)
    const over: Fence[] = []
    for (const batch of unacked) {
      if (batch.n > n) break
      this.#unackedBytes -= bytesOf(batch)
      for (const report of batch.reports) {
        if (report.kind !== 'ended' && report.kind !== 'declined') continue
        over.push(report.fence)
        this.#lanes.delete(fenceKey(report.fence))
      }
    }
    return over
  }

  #fill(reports: AttemptReport[], chunks: Chunk[], room: number, now: number): void {
    let left = room
    for (let turns = this.#ready.length; turns > 0 && reports.length < MAX_BATCH_REPORTS; turns -= 1) {
      const lane = this.#ready.shift()
      if (lane === undefined) return
      lane.queued = false
      left -= takeLane(lane, reports, chunks, Math.min(left, MAX_LANE_BYTES), now)
      if (hasOutput(lane) || lane.reports.length > 0) this.#enqueue(lane)
    }
  }

  #lane(fence: Fence): Lane {
    const key = fenceKey(fence)
    const known = this.#lanes.get(key)
    if (known !== undefined) return known
    const lane: Lane = {
      fence,
      reports: [],
      known: { stdout: 0, stderr: 0 },
      taken: { stdout: 0, stderr: 0 },
      queued: false,
    }
    this.#lanes.set(key, lane)
    return lane
  }

  #advance({ fence, stream, offset, length }: Chunk): void {
    const lane = this.#lane(fence)
    lane.taken[stream] = Math.max(lane.taken[stream], offset + length)
    lane.known[stream] = Math.max(lane.known[stream], offset + length)
  }

  #enqueue(lane: Lane): void {
    if (lane.queued) return
    lane.queued = true
    this.#ready.push(lane)
  }
}

/** Takes what the attempt may say now; returns the bytes of output taken. */
function takeLane(lane: Lane, reports: AttemptReport[], chunks: Chunk[], room: number, now: number): number {
  while (lane.reports[0] !== undefined && lane.reports[0].kind !== 'ended')
    reports.push(lane.reports.shift() as AttemptReport)
  const taken = takeOutput(lane, 'stderr', chunks, room, now)
  const bytes = taken + takeOutput(lane, 'stdout', chunks, room - taken, now)
  if (hasOutput(lane)) return bytes
  for (const report of lane.reports) reports.push(report)
  lane.reports = []
  return bytes
}

function takeOutput(lane: Lane, stream: OutputStream, chunks: Chunk[], room: number, now: number): number {
  const offset = lane.taken[stream]
  const length = Math.min(lane.known[stream] - offset, room)
  if (length <= 0) return 0
  chunks.push({ fence: lane.fence, stream, offset, length, at: now })
  lane.taken[stream] = offset + length
  return length
}

function hasOutput(lane: Lane): boolean {
  return lane.taken.stdout < lane.known.stdout || lane.taken.stderr < lane.known.stderr
}

function bytesOf(batch: SpoolBatch): number {
  let bytes = 0
  for (const chunk of batch.chunks) bytes += chunk.length
  return bytes
}
