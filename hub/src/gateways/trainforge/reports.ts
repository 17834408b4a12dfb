import { type AttemptReport, type EndedReport, readSpec, sameFence } from '@stoker/protocol'
import { holdArtifacts } from '../native/artifacts.ts'
import type { TrainForgeContext } from './context.ts'
import { type Ending, endByLeaving, endByNode, endByRunner, type SaidByNode, type SaidByRunner } from './ends.ts'
import type { KnownWorker, Ledger } from './ledger.ts'
import type { LiveOutput } from './live-output.ts'
import type { Results } from './results.ts'
import type { Held } from './rules/held.ts'
import { LIKELY_REASONS } from './rules/offer-lease.ts'
import { LINGER_MS } from './rules/times.ts'

/** What a worker says of one of its attempts. */
export type Said =
  | { readonly status: 'running' }
  | { readonly status: 'cancelled' }
  | { readonly status: 'declined'; readonly reason: string }
  | (Omit<SaidByNode, 'lacksOutputs'> & { readonly durationSeconds: number | null })

export interface ReportPorts {
  readonly context: TrainForgeContext
  readonly ledger: Ledger
  readonly output: LiveOutput
  readonly results: Results
}

/** Turns what is said of attempts into what the engine is told; what is about no attempt the worker has changes nothing. */
export class Reports {
  readonly #context: TrainForgeContext
  readonly #ledger: Ledger
  readonly #output: LiveOutput
  readonly #results: Results

  constructor({ context, ledger, output, results }: ReportPorts) {
    this.#context = context
    this.#ledger = ledger
    this.#output = output
    this.#results = results
  }

  async take(worker: KnownWorker, attemptId: string, said: Said): Promise<void> {
    worker.lingering.delete(attemptId)
    const found = this.#ledger.find(attemptId)
    if (found === undefined || found.worker !== worker) {
      this.#context.log('info', `trainforge: ${worker.id} says ${said.status} of ${attemptId}, which it does not have`)
      return
    }
    const { held } = found
    switch (said.status) {
      case 'running':
        return this.running(worker, held)
      case 'declined':
        return this.decline(worker, held, said.reason)
      case 'cancelled':
        return this.#send(worker, endByLeaving(await this.#endingOf(held, null)))
      default: {
        const ranMs = Math.max(0, Math.round((said.durationSeconds ?? 0) * 1000))
        const startedAt = held.phase === 'running' ? null : this.#context.clock().wall - ranMs
        const artifacts = this.#results.take(held.id)
        const lacksOutputs = artifacts.length === 0 && (await this.#specOf(held)).outputs.length > 0
        const ending = await this.#endingOf(held, startedAt)
        await this.#send(worker, { ...endByNode(ending, { ...said, lacksOutputs }), artifacts: [...artifacts] })
      }
    }
  }

  /** Also of one that was given up and that nobody else has. */
  async running(worker: KnownWorker, held: Held): Promise<void> {
    if (held.phase === 'running') return
    const at = this.#context.clock().wall
    await this.#send(worker, { kind: 'running', fence: held.fence, at, isolation: 'none' })
    const isBack = await this.#context.engine.read(state => {
      const claim = state.active.get(held.fence.job)?.claim
      return claim !== undefined && claim.worker === worker.key && sameFence(claim, held.fence)
    })
    if (!isBack) return
    Object.assign(held, { phase: 'running', isUnconfirmed: false, since: this.#context.clock().lease })
    worker.declines = 0
  }

  async decline(worker: KnownWorker, held: Held, reason: string): Promise<void> {
    worker.declines += 1
    worker.declinedAt = this.#context.clock().lease
    const text = worker.declines < 3 ? reason : `${reason}; likely: ${LIKELY_REASONS}`
    const at = this.#context.clock().wall
    await this.#send(worker, { kind: 'declined', fence: held.fence, at, reason: text })
  }

  /** Given back before anybody was told of it: nobody declined. */
  async takeBack(worker: KnownWorker, held: Held, reason: string): Promise<void> {
    await this.#send(worker, { kind: 'declined', fence: held.fence, at: this.#context.clock().wall, reason })
  }

  async fail(worker: KnownWorker, held: Held, error: string): Promise<void> {
    const said = {
      exitCode: null,
      signal: null,
      endedBy: 'itself',
      note: null,
      artifacts: [],
      outputError: null,
    } as const
    await this.#send(worker, endByRunner(await this.#endingOf(held, null), { ...said, startError: error }))
  }

  /** It is over, and how is not known. */
  async over(worker: KnownWorker, held: Held, error: string): Promise<void> {
    const end = endByLeaving(await this.#endingOf(held, null))
    await this.#send(worker, { ...end, error: end.outcome === 'lost' ? error : end.error })
  }

  /** The runner's word is the last one; the node needs a moment more until it has room again. */
  async end(worker: KnownWorker, held: Held, said: SaidByRunner): Promise<void> {
    const until = this.#context.clock().lease + LINGER_MS
    if (worker.told.kind === 'node') worker.lingering.set(held.id, { until, gpus: held.gpus })
    await this.#send(worker, endByRunner(await this.#endingOf(held, null), said))
  }

  async #endingOf(held: Held, startedAt: number | null): Promise<Ending> {
    const { engine, clock } = this.#context
    const canceledBy = await engine.read(state => state.active.get(held.fence.job)?.cancelBy ?? null)
    const watch = await this.#output.listened(held.fence)
    return { fence: held.fence, now: clock().wall, startedAt, canceledBy, watch }
  }

  async #specOf({ fence }: Held) {
    const [row] = await this.#context.queries.offers([fence.job])
    return row === undefined ? { outputs: [] } : readSpec(row.spec)
  }

  async #send(worker: KnownWorker, report: AttemptReport): Promise<void> {
    const { missing, release } = await holdArtifacts(this.#context, [report])
    const reports = [withoutEmpty(report)]
    await this.#context.engine
      .execute({ kind: 'report', worker: worker.key, n: null, reports, rows: [], missing })
      .finally(release)
  }
}

function withoutEmpty(report: AttemptReport): AttemptReport {
  if (report.kind !== 'ended' || report.artifacts === undefined || report.artifacts.length > 0) return report
  const { artifacts: _, ...rest } = report
  return rest satisfies EndedReport
}
