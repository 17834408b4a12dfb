import type { Change } from '@stoker/protocol'
import type { Batch } from '../../engine/core.ts'
import { setConnected } from '../../engine/liveness.ts'
import type { TrainForgeContext } from './context.ts'
import { heldBy, type KnownWorker, type Ledger } from './ledger.ts'
import type { LiveOutput } from './live-output.ts'
import type { Projects } from './projects.ts'
import type { Registrar } from './registrar.ts'
import type { Reports } from './reports.ts'
import { isThere } from './rules/held.ts'
import { declinedBy } from './rules/offer-lease.ts'
import { lostBy } from './rules/presence.ts'
import { CONFLICT_SHOWN_MS, OFFLINE_MS } from './rules/times.ts'
import { isPassing } from './worker-id.ts'

const SWEEP_MS = 60_000
/** A worker that never comes back under its id is shown this long. */
const PASSING_KEPT_MS = 24 * 3600_000

export interface WatchPorts {
  readonly context: TrainForgeContext
  readonly ledger: Ledger
  readonly projects: Projects
  readonly reports: Reports
  readonly registrar: Registrar
  readonly output: LiveOutput
}

/** What only time and others bring: offers nobody took up, silence, and what was decided about attempts. */
export class Watchman {
  readonly #ports: WatchPorts
  readonly #stopListening: () => void
  #sweptAt = Number.NEGATIVE_INFINITY
  #ticking: Promise<void> | null = null
  #upkeep: Promise<unknown> = Promise.resolve()

  constructor(ports: WatchPorts) {
    this.#ports = ports
    this.#stopListening = ports.context.engine.onCommit(batch => this.#hear(batch))
  }

  /** One look at a time; asked for during a look it is that one. */
  tick(): Promise<void> {
    this.#ticking ??= this.#look().finally(() => {
      this.#ticking = null
    })
    return this.#ticking
  }

  async close(): Promise<void> {
    this.#stopListening()
    await this.#ticking?.catch(() => undefined)
    await this.#upkeep
  }

  async #look(): Promise<void> {
    const { context, ledger, projects } = this.#ports
    const now = context.clock().lease
    for (const worker of [...ledger.workers]) await this.#lookAt(worker, now)
    if (now - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = now
    await projects.sweep(id => ledger.has(id))
  }

  async #lookAt(worker: KnownWorker, now: number): Promise<void> {
    const { context, reports, registrar } = this.#ports
    for (const [id, { until }] of worker.lingering) if (now >= until) worker.lingering.delete(id)
    for (const held of [...worker.held.values()]) {
      const declined = declinedBy(held, heldBy(worker), now)
      if (declined !== null) {
        await reports.decline(worker, held, `${worker.id} declined: ${declined}`)
        continue
      }
      const lost = lostBy(held, heldBy(worker), now)
      if (lost === null) continue
      if (!isThere(held)) await reports.takeBack(worker, held, lost)
      else await context.engine.execute({ kind: 'lose', fence: held.fence, reason: `worker ${worker.id}: ${lost}` })
    }
    if (now - worker.conflictAt >= CONFLICT_SHOWN_MS) worker.conflict = null
    await registrar.refresh(worker)
    await this.#present(worker, now)
  }

  /** Quiet and without work is away; quiet with work is busy. */
  async #present(worker: KnownWorker, now: number): Promise<void> {
    const { engine } = this.#ports.context
    const quietMs = now - worker.heardAt
    if (quietMs < OFFLINE_MS) return
    engine.touch(state => {
      const known = state.workers.get(worker.key)
      if (known?.connected === true && known.active.size === 0) setConnected(state, worker.key, false)
    })
    if (quietMs >= PASSING_KEPT_MS && isPassing(worker.id) && worker.held.size === 0)
      await engine.execute({ kind: 'removeWorker', worker: worker.key })
  }

  #hear({ changes }: Batch): void {
    for (const change of changes) this.#hearOf(change)
  }

  #hearOf(change: Change): void {
    const { ledger } = this.#ports
    if (change.c === 'attemptEnded' || change.c === 'released') this.#ended(change)
    else if (change.c === 'lost' || change.c === 'resumed') {
      const found = ledger.findFence(change)
      if (found !== undefined) found.held.phase = change.c === 'lost' ? 'lost' : 'running'
    } else if (change.c === 'stopRequested') this.#later(() => this.#takeBack(change.job))
    else if (change.c === 'workerRemoved') ledger.forget(change.id)
  }

  #ended(fence: { readonly job: number; readonly epoch: number; readonly attempt: number }): void {
    const { context, ledger, output, projects } = this.#ports
    const found = ledger.findFence(fence)
    if (found === undefined) return
    ledger.drop(fence)
    output.forget(fence)
    context.board.forgetJob(fence.job)
    this.#later(() => projects.ended(found.held.id))
  }

  /** Canceled before its worker was told of it. */
  async #takeBack(job: number): Promise<void> {
    const { ledger, reports } = this.#ports
    for (const worker of ledger.workers)
      for (const held of worker.held.values())
        if (held.fence.job === job && (held.phase === 'ready' || held.phase === 'preparing'))
          await reports.takeBack(worker, held, 'it was canceled before it was given out')
  }

  #later(work: () => Promise<void>): void {
    this.#upkeep = this.#upkeep
      .then(work)
      .catch(error => this.#ports.context.log('warn', `trainforge: ${error instanceof Error ? error.message : error}`))
  }
}
