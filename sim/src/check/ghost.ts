import { type Chunk, type Fence, fenceKey, type HubMessage } from '@stoker/protocol'
import type { Batch } from '../../../hub/src/engine/core.ts'
import type { State } from '../../../hub/src/engine/state.ts'
import type { MemoryTables } from '../../../hub/src/store/memory/tables.ts'
import { createChecker } from '../../../hub/src/verify/checker.ts'
import { GroupCounts } from '../../../hub/src/verify/group-counts.ts'
import { Replay } from '../../../hub/src/verify/replay.ts'
import { checkStreams } from '../../../hub/src/verify/stream-rows.ts'
import { checkWaiting } from '../../../hub/src/verify/waiting-jobs.ts'
import type { SpoolBatch } from '../../../worker/src/session/spool.ts'
import type { Segments } from '../hub/sim-streams.ts'
import { outputBytes } from '../world/output-bytes.ts'

/** Enough to understand a run; all of them are replayed by its seed. */
const MAX_VIOLATIONS = 20

interface AckedStream {
  readonly chunk: Chunk
  end: number
}

/** Knows what no single part of the system knows: what clients and workers were told. Holds it against the disk. */
export class Ghost {
  readonly checker = createChecker()
  readonly #replay = new Replay()
  readonly #tables: MemoryTables
  readonly #segments: Segments
  /** The newest attempt of each job that is on the disk. */
  readonly #placed: number[] = []
  readonly #answers = new Map<string, { readonly firstSeq: number; readonly count: number }>()
  readonly #streams = new Map<string, AckedStream>()
  readonly #batches = new Map<string, number>()
  readonly #ownViolations: string[] = []

  constructor(tables: MemoryTables, segments: Segments) {
    this.#tables = tables
    this.#segments = segments
  }

  get violations(): readonly string[] {
    return [...this.checker.problems.map(problem => `${problem.guarantee}: ${problem.text}`), ...this.#ownViolations]
  }

  get isClean(): boolean {
    return this.checker.problems.length === 0 && this.#ownViolations.length === 0
  }

  complain(guarantee: string, text: string): void {
    if (this.#ownViolations.length < MAX_VIOLATIONS) this.#ownViolations.push(`${guarantee}: ${text}`)
  }

  /** A batch has reached the disk. */
  durable({ commit, changes }: Batch): void {
    if (commit.journal === null) return
    this.checker.take(commit.journal, changes)
    this.#replay.take(commit.journal, changes)
    for (const change of changes) {
      switch (change.c) {
        case 'placed':
          this.#placed[change.job] = change.attempt
          break
        case 'batch':
          this.#batches.set(change.worker, change.n)
          break
        case 'workerRemoved':
          this.#batches.delete(change.id)
          break
        case 'attemptEnded':
          if (change.outcome === 'completed') this.#checkResult(change, change.result)
          break
        default:
      }
    }
  }

  /** Something left the hub: it must be on the disk already. */
  hubSays(worker: string, message: HubMessage): void {
    if (message.t === 'offers') {
      for (const { fence } of message.offers)
        if ((this.#placed[fence.job] ?? 0) < fence.attempt)
          this.complain(
            'g',
            `attempt ${fenceKey(fence)} was offered to ${worker}, but no placement of it is on the disk`,
          )
    } else if (message.t === 'ack') this.#checkAck(worker, message.n)
    else if (message.t === 'welcome') this.#checkAck(worker, message.ackedBatch)
  }

  /** A client was told that its jobs are accepted. */
  submitAnswered(key: string, reply: { readonly firstSeq: number; readonly count: number }): void {
    const before = this.#answers.get(key)
    if (before !== undefined && before.firstSeq !== reply.firstSeq)
      this.complain('g', `key ${key} was answered with job ${before.firstSeq} and later with job ${reply.firstSeq}`)
    this.#answers.set(key, reply)
    this.#checkJobs(key, reply)
  }

  /** A worker was told that these batches are durable, and has forgotten them. */
  workerForgets(batches: readonly SpoolBatch[]): void {
    for (const { n, chunks, reports } of batches) {
      for (const chunk of chunks) this.#ackChunk(chunk)
      for (const { kind, fence } of reports)
        if (kind === 'ended' && this.#isActive(fence))
          this.complain(
            'g',
            `batch ${n} with the end of ${fenceKey(fence)} was acknowledged, but its job is still active`,
          )
    }
  }

  /** A hub has read its rows: they and the journal must say the same, and nothing acknowledged may be missing. */
  recovered(state: State): void {
    const disagreement = this.#replay.disagreement(state)
    if (disagreement !== null) this.complain('g', disagreement)
    checkWaiting(state, (guarantee, text) => this.complain(guarantee, text))
    for (const [key, reply] of this.#answers) this.#checkJobs(key, reply)
    for (const { chunk, end } of this.#streams.values()) this.#checkReadable(chunk, 0, end)
    this.#checkGroups()
  }

  /** All is quiet: everything ever acknowledged is read once more. */
  finish(state: State): void {
    this.recovered(state)
    for (const { chunk } of this.#streams.values()) {
      const { job, epoch, attempt } = chunk.fence
      checkStreams(chunk.fence, this.#tables.queries.chunks(job, epoch, attempt), null, (guarantee, text) =>
        this.complain(guarantee, text),
      )
    }
    if (this.checker.liveJobs > 0) this.complain('a', `all is quiet, but ${this.checker.liveJobs} jobs have not ended`)
    if (this.checker.claims > 0) this.complain('d', `all is quiet, but ${this.checker.claims} attempts claim resources`)
  }

  #checkGroups(): void {
    const { queries } = this.#tables
    const groups = queries.groups(null, null, Number.MAX_SAFE_INTEGER).rows
    if (groups.length === 0) return
    const counts = new GroupCounts()
    for (const job of queries.scan('job', 0, Number.MAX_SAFE_INTEGER)) counts.take(job)
    for (const group of groups) counts.compare(group, (guarantee, text) => this.complain(guarantee, text))
  }

  #checkResult(fence: Fence, result: unknown): void {
    const by = typeof result === 'object' && result !== null && 'by' in result ? String(result.by) : 'nobody'
    if (by !== fenceKey(fence))
      this.complain('b', `the result of attempt ${fenceKey(fence)} was published, but attempt ${by} produced it`)
  }

  #checkAck(worker: string, n: number): void {
    const durable = this.#batches.get(worker)
    if (durable !== undefined && durable < n)
      this.complain('g', `batch ${n} of ${worker} was acknowledged, the disk has batches up to ${durable}`)
  }

  #checkJobs(key: string, { firstSeq, count }: { readonly firstSeq: number; readonly count: number }): void {
    let found = 0
    for (let seq = firstSeq; seq < firstSeq + count; seq += 1) if (this.#tables.hasJob(seq)) found += 1
    if (found !== count)
      this.complain('g', `key ${key} was answered with ${count} jobs from ${firstSeq} on, the disk has ${found}`)
  }

  #isActive({ job, epoch, attempt }: Fence): boolean {
    const { jobCell } = this.#tables
    return (
      jobCell(job, 'state') === 'active' &&
      jobCell(job, 'attempts') === attempt &&
      jobCell(job, 'attemptEpoch') === epoch
    )
  }

  #ackChunk(chunk: Chunk): void {
    const key = `${fenceKey(chunk.fence)}/${chunk.stream}`
    const known = this.#streams.get(key)
    const end = chunk.offset + chunk.length
    if (known === undefined) this.#streams.set(key, { chunk, end })
    else known.end = Math.max(known.end, end)
    this.#checkReadable(chunk, chunk.offset, end)
  }

  #checkReadable({ fence, stream }: Chunk, from: number, to: number): void {
    const number = stream === 'stdout' ? 0 : 1
    const rows = this.#tables.queries.chunks(fence.job, fence.epoch, fence.attempt).filter(row => row.stream === number)
    let end = from
    for (const { offset, length, segment, position } of rows) {
      if (offset + length <= end || offset > end) continue
      const stored = this.#segments.get(segment)?.[position]
      if (stored === undefined || Buffer.compare(stored, outputBytes(fence, stream, offset, length)) !== 0) break
      end = offset + length
      if (end >= to) return
    }
    if (end < to)
      this.complain(
        'f',
        `${stream} of ${fenceKey(fence)} was acknowledged up to byte ${to}, it can be read up to byte ${end}`,
      )
  }
}
