import { hasCode, sha256 } from '@stoker/files'
import { fenceKey, readSpec } from '@stoker/protocol'
import { attemptId } from './attempt-id.ts'
import type { TrainForgeContext } from './context.ts'
import { heldBy, inTurn, type KnownWorker, type Ledger, noteOf } from './ledger.ts'
import { BadProject, type Projects, SCRIPT } from './projects.ts'
import type { Registrar } from './registrar.ts'
import type { Reports } from './reports.ts'
import { mostFor } from './rules/ask.ts'
import { fastPolls, isTooFast } from './rules/conflict.ts'
import type { Held } from './rules/held.ts'
import { judgeCount } from './rules/lost-completion.ts'
import { within } from './within.ts'

/** Most folders are made in milliseconds; a node waits ten seconds for its answer. */
const PREPARE_MS = 3_000

/** A job as a node is told of it. */
export interface OfferedJob {
  readonly job_id: string
  readonly resources: { readonly gpu: number; readonly cpu: 1 }
  readonly training: { readonly script: string }
}

export interface HandOutPorts {
  readonly context: TrainForgeContext
  readonly ledger: Ledger
  readonly projects: Projects
  readonly reports: Reports
  readonly registrar: Registrar
}

/** Gives jobs to those who ask: leased, their folders made, and written down before they are told. */
export class HandOut {
  readonly #ports: HandOutPorts
  readonly #preparing = new Map<string, Promise<void>>()

  constructor(ports: HandOutPorts) {
    this.#ports = ports
  }

  /** `url` is where the node reached the hub. */
  poll(worker: KnownWorker, url: string): Promise<readonly OfferedJob[]> {
    return inTurn(worker, async () => {
      await this.#learn(worker)
      const most = mostFor(askerOf(worker), this.#now)
      if (most > 0) await this.#ports.context.engine.execute({ kind: 'ask', worker: worker.key, most })
      await this.#takeUp(worker)
      const waiting = [...worker.held.values()].filter(({ phase }) => phase === 'preparing')
      if (waiting.length > 0)
        await within(PREPARE_MS, Promise.all(waiting.map(held => this.prepare(worker, held, url))))
      return this.#give(worker)
    })
  }

  /** Jobs are running by the worker's own word: it has `count` of them. */
  async count(worker: KnownWorker, count: number): Promise<void> {
    const { over, doubtful, excess } = judgeCount([...worker.held.values()], count, worker.excess, this.#now)
    worker.excess = excess
    for (const held of over)
      await this.#ports.reports.over(worker, held, 'it ended, but its worker’s report of it was lost')
    const doubt =
      doubtful.length === 0 ? null : `one of these ended without a report: ${doubtful.map(({ id }) => id).join(', ')}`
    worker.doubt = doubt
    await this.#ports.registrar.refresh(worker)
  }

  /** Its folder is there when it resolves, or the attempt is over. */
  prepare(worker: KnownWorker, held: Held, url: string): Promise<void> {
    const key = fenceKey(held.fence)
    const begun = this.#preparing.get(key)
    if (begun !== undefined) return begun
    const work = this.#prepare(worker, held, url).finally(() => this.#preparing.delete(key))
    this.#preparing.set(key, work)
    return work
  }

  /** Its folder is there, or never will be. */
  async settled({ fence }: Held): Promise<void> {
    await this.#preparing.get(fenceKey(fence))
  }

  async settle(): Promise<void> {
    await Promise.allSettled(this.#preparing.values())
  }

  get #now(): number {
    return this.#ports.context.clock().lease
  }

  /** What a poll says by itself: the worker has a free slot, and started what it wanted to of what it was given. */
  async #learn(worker: KnownWorker): Promise<void> {
    const now = this.#now
    worker.fastPolls = fastPolls(worker.fastPolls, now - worker.polledAt)
    worker.polledAt = now
    if (isTooFast(worker.fastPolls))
      await this.#ports.registrar.suspect(worker, 'it polls faster than one process does')
    for (const held of worker.held.values()) if (held.phase === 'offered') held.polledAt ??= now
    await this.#ports.registrar.refresh(worker)
    await this.count(worker, heldBy(worker).maxJobs - 1)
  }

  /** Whatever the engine has leased to the worker and is not in the book yet. */
  async #takeUp(worker: KnownWorker): Promise<void> {
    const { context, ledger } = this.#ports
    const leased = await context.engine.read(state =>
      [...(state.workers.get(worker.key)?.active.values() ?? [])].map(({ claim, bucket }) => ({
        fence: { job: claim.job, epoch: claim.epoch, attempt: claim.attempt },
        gpus: claim.gpus.length,
        timeoutMs: state.buckets.get(bucket)?.terms.timeoutMs ?? null,
      })),
    )
    const fresh = leased.filter(({ fence }) => !worker.held.has(fenceKey(fence)))
    if (fresh.length === 0) return
    const rows = await context.queries.offers(fresh.map(({ fence }) => fence.job))
    const ids = new Map(rows.map(({ seq, id }) => [seq, id]))
    for (const { fence, ...rest } of fresh) {
      const id = attemptId(ids.get(fence.job) ?? '', fence.attempt)
      ledger.hold(worker, aHeld({ id, fence, phase: 'preparing', since: this.#now, ...rest }))
    }
  }

  async #prepare(worker: KnownWorker, held: Held, url: string): Promise<void> {
    const { context, projects, reports } = this.#ports
    try {
      const [row] = await context.queries.offers([held.fence.job])
      const owner = await context.engine.read(({ active, buckets }) => {
        const bucket = active.get(held.fence.job)?.bucket
        return bucket === undefined ? undefined : buckets.get(bucket)?.owner
      })
      if (row === undefined || owner === undefined) return
      const token = context.newSecret()
      held.runner = sha256(token)
      await projects.prepare({ id: held.id, owner, spec: readSpec(row.spec), url, token })
      if (held.phase === 'preparing') held.phase = 'ready'
    } catch (error) {
      if (error instanceof BadProject) return reports.fail(worker, held, error.message)
      const why = error instanceof Error ? error.message : String(error)
      context.log('warn', `trainforge: the folder of ${held.id} could not be made: ${why}`)
      const text = hasCode(error, 'ENOSPC') ? 'the disk of the hub is full' : why
      await reports.takeBack(worker, held, `its project folder could not be made: ${text}`)
    }
  }

  async #give(worker: KnownWorker): Promise<readonly OfferedJob[]> {
    const { engine } = this.#ports.context
    const ready = [...worker.held.values()].filter(({ phase }) => phase === 'ready')
    const wanted = await engine.read(state =>
      ready.filter(({ fence }) => state.active.get(fence.job)?.cancelBy === null),
    )
    const given = worker.declines > 0 ? wanted.slice(0, 1) : wanted
    if (given.length === 0) return []
    for (const held of given) Object.assign(held, { phase: 'offered', since: this.#now, polledAt: null })
    await engine.execute({ kind: 'note', worker: worker.key, note: noteOf(worker) })
    return given.map(({ id, gpus }) => ({
      job_id: id,
      resources: { gpu: gpus, cpu: 1 },
      training: { script: SCRIPT },
    }))
  }
}

type NewHeld = Pick<Held, 'id' | 'fence' | 'phase' | 'since' | 'gpus' | 'timeoutMs'>

export function aHeld(held: NewHeld): Held {
  return { ...held, isUnconfirmed: false, polledAt: null, checkedInAt: null, runner: '' }
}

function askerOf({ told, held, lingering, declines, declinedAt }: KnownWorker) {
  return {
    maxJobs: told.maxJobs,
    busy: held.size,
    lingering: lingering.size,
    lingersOnGpu: [...lingering.values()].some(({ gpus }) => gpus > 0),
    declines,
    declinedAt,
  }
}
