import { type Fence, fenceKey, Refused, readSpec, sameFence } from '@stoker/protocol'
import type { Command } from '../../engine/commands.ts'
import type { ActiveJob } from '../../engine/state.ts'
import type { QubixContext } from './context.ts'
import { idleMeans } from './idle.ts'
import { type JobObject, jobObject } from './job-object.ts'
import { MOST_LOST } from './lease-end.ts'
import type { ProviderNote } from './provider-note.ts'
import { fenceOf } from './standing.ts'

type Ports = Pick<QubixContext, 'engine' | 'queries' | 'now'>

/** What a worker with empty hands gets: what it has and did not begin, or one more job. The placement is the lease. */
export class HandOut {
  readonly #ports: Ports
  /** What each worker has in hand, so that it need not be read again while the worker speaks of it. */
  readonly #inHand = new Map<string, { readonly key: string; readonly seq: number; readonly object: JobObject }>()

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** The number of the job that the worker has in hand under this id, if that is known. */
  seqOf(worker: string, id: string): number | null {
    const known = this.#inHand.get(worker)
    return known?.object.id === id ? known.seq : null
  }

  forget(worker: string): void {
    this.#inHand.delete(worker)
  }

  async deal(worker: string, note: ProviderNote): Promise<JobObject | null> {
    const { attempt, hasLost, hasQueued } = await this.#ports.engine.read(state => {
      const known = state.workers.get(worker)
      const [first] = known?.active.values() ?? []
      return { attempt: first ?? null, hasLost: (known?.lost.size ?? 0) > 0, hasQueued: state.queued.size > 0 }
    })
    const isHeld = attempt !== null && note.held !== null && sameFence(note.held, attempt.claim)
    const idle = idleMeans(attempt, { variant: note.variant, isHeld, hasSecond: note.secondHost !== null })
    if (idle === 'wait' || (idle === 'ask' && !hasQueued && !hasLost)) return null
    if (idle === 'offer' && attempt !== null) return this.#objectOf(worker, attempt, note)
    // What it lost it does not do any more.
    const release = { kind: 'goodbye', worker, reason: 'it asks for jobs' } as const
    if (idle === 'interrupted' && attempt !== null) return this.#ask(worker, note, [loss(attempt), release])
    return this.#ask(worker, note, hasLost ? [release] : [])
  }

  /** All in one batch: an interrupted job may come back to the same worker as a new attempt. */
  async #ask(worker: string, note: ProviderNote, before: readonly Command[]): Promise<JobObject | null> {
    const { engine } = this.#ports
    const commands = [...before, { kind: 'ask', worker, most: 1 } as const]
    await Promise.all(commands.map(command => engine.execute(command).catch(ignoreRefused)))
    const attempt = await engine.read(state => {
      const [first] = state.workers.get(worker)?.active.values() ?? []
      return first ?? null
    })
    return attempt === null ? null : this.#objectOf(worker, attempt, note)
  }

  async #objectOf(worker: string, { claim }: ActiveJob, note: ProviderNote): Promise<JobObject | null> {
    const fence = fenceOf(claim)
    const key = fenceKey(fence)
    const known = this.#inHand.get(worker)
    if (known?.key === key) return known.object
    const [offer] = await this.#ports.queries.offers([claim.job])
    if (offer === undefined || note.variant === null) return null
    const object = jobObject(offer.id, readSpec(offer.spec), note.variant)
    if ('impossible' in object) {
      await this.#refuse(worker, fence, object.impossible)
      return null
    }
    this.#inHand.set(worker, { key, seq: claim.job, object })
    return object
  }

  async #refuse(worker: string, fence: Fence, error: string): Promise<void> {
    const at = this.#ports.now()
    const end = { startedAt: null, exitCode: null, signal: null, note: null, result: null, usage: null }
    const report = { kind: 'ended', fence, at, outcome: 'failed', error, ...end } as const
    await this.#ports.engine.execute({ kind: 'report', worker, n: null, reports: [report], rows: [] })
  }
}

function loss({ claim }: ActiveJob): Command {
  const reason = 'interrupted: its worker asked for jobs while it had this one'
  return { kind: 'lose', fence: fenceOf(claim), reason, most: MOST_LOST }
}

/** It was removed meanwhile. */
function ignoreRefused(error: unknown): void {
  if (!(error instanceof Refused)) throw error
}
