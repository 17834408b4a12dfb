import { Refused, readSpec } from '@stoker/protocol'
import type { State } from '../../engine/state.ts'
import type { DialectCaller } from '../../serving/dialect-caller.ts'
import { AnswerError } from './answer-error.ts'
import { attemptId, readAttemptId } from './attempt-id.ts'
import type { TrainForgeContext } from './context.ts'
import { aHeld, type HandOut } from './hand-out.ts'
import { type KnownWorker, type Ledger, noteOf } from './ledger.ts'
import { SCRIPT } from './projects.ts'
import type { Reports } from './reports.ts'
import { within } from './within.ts'

const MOST_SHOWN = 20
/** What takes longer goes on behind the answer. */
const PREPARE_MS = 3_000

export interface ClaimPorts {
  readonly context: TrainForgeContext
  readonly ledger: Ledger
  readonly handOut: HandOut
  readonly reports: Reports
}

/** Jobs for workers that look at the queue and take what they like. */
export class Claims {
  readonly #ports: ClaimPorts

  constructor(ports: ClaimPorts) {
    this.#ports = ports
  }

  /** Only what a claim of some idle worker of the caller would get: losers ask again without a pause. */
  async pending(caller: DialectCaller) {
    const { context } = this.#ports
    const idle = this.#idleOf(caller)
    const found = await context.engine.read(state => {
      const now = context.clock()
      const isToBeHad = (job: number) => idle.some(({ key }) => 'gpus' in context.claimable(state, job, key, now))
      return firstJobs(state, isToBeHad)
    })
    const attempts = await context.engine.read(state => found.map(job => state.queued.get(job)?.attempts ?? null))
    const rows = await context.queries.jobsBySeq(found)
    return rows.flatMap(row => {
      const before = attempts[found.indexOf(row.seq)] ?? null
      if (before === null) return []
      const { resources } = readSpec(row.spec)
      return [
        {
          job_id: attemptId(row.id, before + 1),
          project_name: row.name,
          status: 'pending',
          training_script: SCRIPT,
          resources: { gpu: resources.gpus, cpu: Math.max(1, Math.ceil(resources.cpus)) },
          created_at: new Date(row.submittedAt).toISOString(),
        },
      ]
    })
  }

  /** The same answer for whoever has it already. */
  async claim(worker: KnownWorker, id: string, url: string): Promise<void> {
    const { context, ledger, handOut, reports } = this.#ports
    const found = ledger.find(id)
    if (found?.worker === worker) return
    const named = readAttemptId(id)
    const row = named === null ? null : await context.queries.jobById(named.job)
    if (named === null || row === null)
      throw new AnswerError(404, `no job has the id ${JSON.stringify(id.slice(0, 100))}`)
    const next = await context.engine.read(state => state.queued.get(row.seq)?.attempts ?? null)
    if (next === null || next + 1 !== named.attempt)
      throw new Refused('job.taken', `job ${id} is not to be had, someone else was faster or it has ended`)
    const { fence } = await context.engine.execute({ kind: 'claim', worker: worker.key, job: row.seq })
    const claim = await context.engine.read(state => state.active.get(row.seq)?.claim)
    const timeoutMs = readSpec(row.spec).timeoutMs
    const since = context.clock().lease
    const held = aHeld({ id, fence, phase: 'offered', since, gpus: claim?.gpus.length ?? 0, timeoutMs })
    ledger.hold(worker, held)
    await reports.running(worker, held)
    const prepared = handOut.prepare(worker, held, url).then(() => this.#remember(worker))
    await within(PREPARE_MS, prepared)
  }

  async #remember(worker: KnownWorker): Promise<void> {
    await this.#ports.context.engine.execute({ kind: 'note', worker: worker.key, note: noteOf(worker) })
  }

  #idleOf({ owner, role }: DialectCaller): KnownWorker[] {
    return [...this.#ports.ledger.workers].filter(
      worker => worker.told.kind !== 'node' && worker.held.size === 0 && (role === 'admin' || worker.owner === owner),
    )
  }
}

/** The next jobs, of the highest priority first; those of a bucket are alike, so its first one speaks for all. */
function firstJobs(state: State, isToBeHad: (job: number) => boolean): number[] {
  const found: number[] = []
  const buckets = [...state.queued.buckets()].flatMap(id => state.buckets.get(id) ?? [])
  for (const { id, shape } of buckets.sort((a, b) => b.priority - a.priority)) {
    const first = state.queued.oldest(id)
    if (shape.target !== null || first === null || !isToBeHad(first)) continue
    for (const job of state.queued.walk(id)) {
      if (found.length === MOST_SHOWN) return found
      found.push(job)
    }
  }
  return found
}
