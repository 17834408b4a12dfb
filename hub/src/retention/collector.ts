import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlobRow, GcReport, RowWrite } from '@stoker/protocol'
import type { EngineLoop } from '../engine/loop.ts'
import type { Blobs } from '../outputs/artifacts/port.ts'
import type { Streams } from '../outputs/port.ts'
import type { BlobPlace, EmptyGroups, Expired, Queries, ScanTable } from '../store/port.ts'
import type { Retention } from './settings.ts'

export interface CollectorPorts {
  readonly engine: Pick<EngineLoop, 'execute'>
  readonly queries: Queries
  readonly streams: Pick<Streams, 'forget'>
  readonly blobs: Pick<Blobs, 'hold' | 'remove' | 'abandoned' | 'removeAbandoned'>
  readonly now: () => number
  readonly retention: Retention
}

/** Jobs of one commit, and contents and groups looked at in one query: some milliseconds each, so that nobody waits behind them. */
const JOBS_A_SLICE = 100
const BLOBS_A_SLICE = 1000
const GROUPS_A_SLICE = 1000

type Part = { count: number; bytes: number }

/** Takes away what is past its retention, a slice at a time: logs and artifacts, then jobs, then content nothing refers to any more. */
export class Collector {
  readonly #ports: CollectorPorts
  #running: Promise<GcReport> | null = null
  #isClosing = false

  constructor(ports: CollectorPorts) {
    this.#ports = ports
  }

  /** What a run would take away now; content that only expired artifacts need is counted with those. */
  async plan(): Promise<GcReport> {
    const { blobs } = this.#ports
    const report = emptyReport()
    for (const { table, before, part } of this.#walks(report))
      for await (const slice of this.#expired(table, before)) add(part, slice)
    for await (const rows of this.#unused()) addBlobs(report.content, rows)
    return { ...report, uploads: await blobs.abandoned(this.#before('unusedUploadsMs')) }
  }

  /** A run asked for during a run is that same run. */
  run(): Promise<GcReport> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  /** A run under way ends after its slice. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#running?.catch(() => undefined)
  }

  async #run(): Promise<GcReport> {
    const { blobs, queries } = this.#ports
    const report = emptyReport()
    for (const { table, before, part } of this.#walks(report)) {
      for await (const slice of this.#expired(table, before)) {
        const gone = await this.#forget(table, slice)
        add(part, gone)
      }
    }
    await this.#forgetGroups()
    await this.#releaseInputs()
    for await (const rows of this.#unused()) {
      const { count, bytes } = await blobs.remove(rows, some => queries.unreferred(some))
      report.content.count += count
      report.content.bytes += bytes
    }
    return { ...report, uploads: await blobs.removeAbandoned(this.#before('unusedUploadsMs')) }
  }

  /** Nothing of a job outlives the job itself. */
  #walks(report: Omit<GcReport, 'uploads'>): { table: ScanTable; before: number; part: { count: number } }[] {
    const jobs = this.#before('jobsMs')
    const logs = Math.max(jobs, this.#before('logsMs'))
    return [
      { table: 'chunk', before: logs, part: report.logs },
      { table: 'sealed', before: logs, part: report.logs },
      { table: 'artifact', before: Math.max(jobs, this.#before('artifactsMs')), part: report.artifacts },
      { table: 'job', before: jobs, part: report.jobs },
    ]
  }

  async #forget(table: ScanTable, slice: readonly Expired[]): Promise<readonly Expired[]> {
    const { engine, streams, queries } = this.#ports
    const seqs = slice.map(({ job }) => job)
    if (table === 'job') {
      const { forgotten } = await engine.execute({ kind: 'forget', jobs: await queries.jobsBySeq(seqs) })
      const gone = new Set(forgotten)
      return slice.filter(({ job }) => gone.has(job))
    }
    const rows = seqs.map((job): RowWrite => ({ op: 'delete', table, key: { job } }))
    const commit = async () => {
      await engine.execute({ kind: 'rows', rows })
    }
    if (table === 'artifact') await commit()
    else await streams.forget(commit)
    return slice
  }

  /** A group goes with the last of its jobs. */
  async #forgetGroups(): Promise<void> {
    const { engine, queries } = this.#ports
    const before = this.#before('jobsMs')
    for (let place: number | null = -1; place !== null && !this.#isClosing; ) {
      const { ids, next }: EmptyGroups = await queries.emptyGroups(before, place, GROUPS_A_SLICE)
      const rows = ids.map((id): RowWrite => ({ op: 'delete', table: 'jobGroup', key: { id } }))
      if (rows.length > 0) await engine.execute({ kind: 'rows', rows })
      place = next
      await nextTurn()
    }
  }

  /** Whoever retries an ended job finds its content a while longer: holding it counts as use. */
  async #releaseInputs(): Promise<void> {
    const { engine, queries, blobs } = this.#ports
    while (!this.#isClosing) {
      const inputs = await queries.endedInputs(JOBS_A_SLICE)
      if (inputs.length === 0) return
      for (const owner of new Set(inputs.map(input => input.owner))) {
        const own = inputs.filter(input => input.owner === owner)
        const { release } = await blobs.hold(owner, [...new Set(own.map(({ sha256 }) => sha256))])
        const rows = own.map(({ job, sha256 }): RowWrite => ({ op: 'delete', table: 'input', key: { job, sha256 } }))
        await engine.execute({ kind: 'rows', rows }).finally(release)
      }
      await nextTurn()
    }
  }

  async *#expired(table: ScanTable, before: number): AsyncGenerator<readonly Expired[]> {
    for (let after = -1; !this.#isClosing; ) {
      const slice = await this.#ports.queries.expired(table, before, after, JOBS_A_SLICE)
      const last = slice.at(-1)
      if (last === undefined) return
      yield slice
      after = last.job
      await nextTurn()
    }
  }

  async *#unused(): AsyncGenerator<readonly BlobRow[]> {
    const before = this.#before('unusedUploadsMs')
    for (let place: BlobPlace | null = null; !this.#isClosing; ) {
      const { rows, next }: { readonly rows: readonly BlobRow[]; readonly next: BlobPlace | null } =
        await this.#ports.queries.unusedBlobs(before, place, BLOBS_A_SLICE)
      if (rows.length > 0) yield rows
      if (next === null) return
      place = next
      await nextTurn()
    }
  }

  #before(kept: keyof Retention): number {
    return this.#ports.now() - this.#ports.retention[kept]
  }
}

function emptyReport() {
  const part = (): Part => ({ count: 0, bytes: 0 })
  return { jobs: { count: 0 }, logs: part(), artifacts: part(), content: part() }
}

function add(part: { count: number; bytes?: number }, slice: readonly Expired[]): void {
  for (const { count, bytes } of slice) {
    part.count += count
    if (part.bytes !== undefined) part.bytes += bytes
  }
}

function addBlobs(part: Part, rows: readonly BlobRow[]): void {
  add(
    part,
    rows.map(({ size }) => ({ job: 0, count: 1, bytes: size })),
  )
}
