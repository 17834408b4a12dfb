import type { Log } from '@stoker/files'
import {
  type AttemptReport,
  type EndedReport,
  type Fence,
  fenceKey,
  type GpuSample,
  type JobSpec,
  type LiveAttempt,
  type OutputStream,
  type Progress,
} from '@stoker/protocol'
import type { Delivery } from '../../run/delivery.ts'
import { lostFate, unstartedReport } from '../../run/program-end.ts'
import type { Runner } from '../../run/runner.ts'
import type { Workspaces } from '../../run/workspace.ts'
import type { JobJournal } from './job-journal.ts'
import { fenceOf, type JobRecord } from './job-record.ts'
import type { Need, Taken } from './places.ts'
import { CannotStart, type HeldJob, SILENT, type Talk } from './talk.ts'
import { textOf } from './text-of.ts'

export interface ForeignPorts {
  /** Names the hub in the journal: its address without the login. */
  readonly hub: string
  readonly journal: JobJournal
  readonly workspaces: Workspaces
  readonly talkAbout: (job: HeldJob) => Talk
  readonly now: () => number
  readonly log: Log
  /** A place became free. */
  readonly freed: () => void
  /** The hub has answered the last word about a job. */
  readonly told: (record: JobRecord) => void
}

/** A job beyond its record: what is going on with it in this process. */
interface Held {
  readonly job: HeldJob & { usage: HeldJob['usage'] }
  readonly talk: Talk
  readonly begun: AbortController
  stopped: string | null
}

/**
 * The jobs this worker has of a foreign hub. taken: written down, its talk begins it. running: the runner has it.
 * ended: its end is written down and told until the hub answers. told: only its last word is kept.
 * A worker that is killed finds each of them in its journal and goes on from there.
 */
export class ForeignJobs implements Delivery {
  readonly #ports: ForeignPorts
  readonly #held = new Map<number, Held>()
  readonly #closing = new AbortController()
  #runner: Runner | null = null
  #isDraining = false
  #emptied: (() => void)[] = []

  constructor(ports: ForeignPorts) {
    this.#ports = ports
  }

  /** Jobs that have not ended, oldest first. */
  get ids(): readonly string[] {
    return this.#active().map(({ id }) => id)
  }

  /** What those of them that have a place take of the machine. */
  get taken(): readonly (Taken & { readonly id: string })[] {
    const placed = this.#active().filter(({ isPlaced }) => isPlaced)
    return placed.map(({ id, need, uuids }) => ({ id, ...need, uuids }))
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  async start(runner: Runner): Promise<void> {
    const { journal, hub, workspaces, log } = this.#ports
    this.#runner = runner
    const left = journal.open
    journal.startFrom(Math.max(0, ...(await workspaces.left()).map(({ key }) => Number.parseInt(key, 10) || 0)) + 1)
    for (const record of left) this.#hold(record)
    const ended = left.filter(record => record.end !== null)
    const holding = await runner.reattach(new Set(ended.map(record => fenceKey(fenceOf(record)))))
    for (const { fence } of holding)
      if (!left.some(record => fenceKey(fenceOf(record)) === fenceKey(fence))) {
        runner.stop(fence, { cause: 'stale', text: 'no hub is known that wants it' })
        log('warn', `attempt ${fenceKey(fence)} was left by nobody known; it is stopped`)
      }
    const held = new Set(holding.map(({ fence }) => fenceKey(fence)))
    for (const record of left) {
      if (record.end !== null) this.#finish(record)
      else if (held.has(fenceKey(fenceOf(record)))) continue
      else if (record.hub === hub) this.#again(record)
      else this.#drop(record)
    }
  }

  /** Takes a job that nobody here has seen, with its devices, or null where its talk finds a place for it. */
  take(id: string, job: JobRecord['job'], need: Need, uuids: readonly string[] | null): void {
    const { journal, hub, now } = this.#ports
    const place = { isPlaced: uuids !== null, uuids: [...(uuids ?? [])] }
    const record = journal.create({ id, hub, job, takenAt: now(), need, ...place })
    this.#hold(record)
    void this.#begin(record)
  }

  find(id: string): JobRecord | null {
    return this.#ports.journal.find({ hub: this.#ports.hub, id })
  }

  drain(): void {
    this.#isDraining = true
    for (const { begun, job } of this.#held.values()) if (job.record.startedAt === null) begun.abort()
  }

  /** Resolves when every end is told. */
  settled(): Promise<void> {
    if (this.#held.size === 0) return Promise.resolve()
    return new Promise(resolve => {
      this.#emptied.push(resolve)
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#held.values()].map(({ talk }) => talk.close()))
  }

  /** Looks at what runs; averages and the live figures of a job come from it. */
  async sample(gpus: readonly GpuSample[]): Promise<void> {
    const samples = (await this.#runner?.sample(gpus)) ?? []
    for (const sample of samples) this.#sampled(sample)
  }

  /** Once closed, what is heard is for the next process: it finds the program, or its end, where its keeper left it. */
  report(reports: readonly AttemptReport[], sizes?: Readonly<Record<OutputStream, number>>): void {
    if (this.#closing.signal.aborted) return
    for (const report of reports) {
      const held = this.#heldBy(report.fence)
      if (held === null) {
        if (report.kind === 'ended') void this.#ports.workspaces.remove(report.fence)
        continue
      }
      if (sizes !== undefined) held.job.record.sizes = { ...sizes }
      this.#hear(held, report)
    }
  }

  output(fence: Fence, sizes: Readonly<Record<OutputStream, number>>): void {
    const held = this.#heldBy(fence)
    if (held === null) return
    held.job.record.sizes = { ...sizes }
    held.talk.output()
  }

  progress(fence: Fence, progress: Progress): void {
    this.#heldBy(fence)?.talk.progress(progress)
  }

  ready(): void {}

  #hear({ job, talk }: Held, report: AttemptReport): void {
    const { record } = job
    if (report.kind === 'starting') talk.progress({ percent: null, operation: report.operation, metrics: {} })
    else if (report.kind === 'running') {
      record.startedAt = report.at
      job.save()
      talk.started()
    } else if (report.kind === 'ended') this.#ended(record, report)
    else if (report.kind === 'declined') this.#cannotStart(record, report.reason)
  }

  #cannotStart(record: JobRecord, reason: string): void {
    record.isDeclined = true
    this.#ended(record, this.#unstarted(record, 'failed', reason))
  }

  #ended(record: JobRecord, report: EndedReport): void {
    record.end = report
    this.#ports.journal.save(record, { durable: true })
    this.#finish(record)
    this.#ports.freed()
  }

  #finish(record: JobRecord): void {
    if (record.hub === this.#ports.hub) void this.#tell(record)
    else this.#drop(record)
  }

  async #tell(record: JobRecord): Promise<void> {
    try {
      await this.#held.get(record.number)?.talk.finish()
      this.#told(record)
    } catch (error) {
      this.#broke(record, error)
    }
  }

  #told(record: JobRecord): void {
    const { journal, workspaces, now, told } = this.#ports
    journal.told(record, now())
    void workspaces.remove(fenceOf(record))
    this.#drop(record)
    told(record)
  }

  /** An end that was not told stays in the journal, whatever was the matter. */
  #broke(record: JobRecord, error: unknown): void {
    if (this.#closing.signal.aborted) return
    this.#ports.log('error', `job ${record.id}: its end could not be told: ${textOf(error)}`)
    this.#drop(record)
  }

  #drop(record: JobRecord): void {
    this.#held.delete(record.number)
    if (this.#held.size > 0) return
    for (const resolve of this.#emptied.splice(0)) resolve()
  }

  #hold(record: JobRecord): void {
    const { journal, workspaces, talkAbout, hub } = this.#ports
    const begun = new AbortController()
    const job = {
      record,
      usage: null,
      signal: this.#closing.signal,
      get folder() {
        return workspaces.folderOf(fenceOf(record))
      },
      save: (options = {}) => journal.save(record, options),
      stop: (text: string) => this.#stop(record, text),
    }
    const talk = record.hub === hub ? talkAbout(job) : SILENT
    this.#held.set(record.number, { job, talk, begun, stopped: null })
  }

  /** It was taken and its program never started: no other process of this worker can have run it. */
  #again(record: JobRecord): void {
    record.attempt += 1
    record.startedAt = null
    this.#ports.journal.save(record)
    void this.#begin(record)
  }

  async #begin(record: JobRecord): Promise<void> {
    const held = this.#held.get(record.number)
    if (held === undefined) return
    try {
      const beginning = await held.talk.begin(AbortSignal.any([held.begun.signal, this.#closing.signal]))
      held.begun.signal.throwIfAborted()
      if (this.#closing.signal.aborted) return
      if (beginning === 'refused') this.#forget(record)
      else this.#start(record, beginning)
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#failedToBegin(held, error)
    }
  }

  #start(record: JobRecord, spec: JobSpec): void {
    this.#runner?.start({ fence: fenceOf(record), id: record.id, spec, gpus: [...record.uuids] })
  }

  #failedToBegin({ job: { record }, stopped }: Held, error: unknown): void {
    if (stopped !== null) this.#ended(record, this.#unstarted(record, 'canceled', stopped))
    else if (this.#isDraining) this.#ended(record, this.#unstarted(record, 'lost', 'its worker was shut down'))
    else if (error instanceof CannotStart) this.#cannotStart(record, error.message)
    else this.#ended(record, this.#unstarted(record, 'failed', textOf(error)))
  }

  #forget(record: JobRecord): void {
    this.#ports.journal.forget(record)
    this.#drop(record)
    this.#ports.freed()
  }

  #stop(record: JobRecord, text: string): void {
    const held = this.#held.get(record.number)
    if (held === undefined || held.stopped !== null || record.end !== null) return
    held.stopped = text
    held.begun.abort()
    this.#runner?.stop(fenceOf(record), { cause: 'canceled', text })
  }

  #unstarted(record: JobRecord, outcome: EndedReport['outcome'], error: string): EndedReport {
    return unstartedReport(fenceOf(record), this.#ports.now(), { ...lostFate(error), outcome })
  }

  #sampled({ fence, cpus, memoryBytes }: LiveAttempt): void {
    const held = this.#heldBy(fence)
    if (held !== null) held.job.usage = { cpus, memoryBytes }
  }

  #active(): readonly JobRecord[] {
    return [...this.#held.values()].map(({ job }) => job.record).filter(record => record.end === null)
  }

  #heldBy(fence: Fence): Held | null {
    const held = this.#held.get(fence.job)
    return held !== undefined && fenceKey(fenceOf(held.job.record)) === fenceKey(fence) ? held : null
  }
}
