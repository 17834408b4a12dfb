import { type AttemptReport, type Fence, Refused, sameFence } from '@stoker/protocol'
import { setConnected } from '../../engine/liveness.ts'
import type { ActiveJob, Now, State, WorkerState } from '../../engine/state.ts'
import type { QubixContext } from './context.ts'
import type { HandOut } from './hand-out.ts'
import { type LeaseEnd, leaseEnd, MOST_LOST, REST_MS } from './lease-end.ts'
import { DIALECT, QUIET_MS } from './provider-facts.ts'
import { type ProviderNote, readNote } from './provider-note.ts'
import { fenceOf } from './standing.ts'
import type { Turns } from './turns.ts'

interface Due {
  readonly worker: string
  readonly fence: Fence
  readonly bucket: number
  readonly startedAt: number
  readonly lease: LeaseEnd
}

/** Sees what no old worker says: that it is gone, that its job is over by the clock, or that someone canceled it. */
export class LeaseWatch {
  readonly #context: QubixContext
  readonly #turns: Turns
  readonly #handOut: HandOut
  readonly #stopListening: () => void

  constructor(context: QubixContext, turns: Turns, handOut: HandOut) {
    this.#context = context
    this.#turns = turns
    this.#handOut = handOut
    this.#stopListening = context.engine.onCommit(({ changes }) => {
      for (const change of changes) if (change.c === 'workerRemoved') handOut.forget(change.id)
      if (changes.some(({ c }) => c === 'stopRequested')) void this.look()
    })
  }

  close(): void {
    this.#stopListening()
  }

  /** Every second, and when someone cancels. */
  async look(): Promise<void> {
    const due: Due[] = []
    this.#context.engine.touch((state, now) => {
      for (const worker of state.workers.values()) {
        if (worker.facts.dialect?.name !== DIALECT) continue
        followLiveness(state, worker, now)
        if (worker.active.size > 0) due.push(...dueOf(state, worker, now))
      }
    })
    await Promise.all(due.map(each => this.#turns.take(each.worker, () => this.#end(each)).catch(ignoreRefused)))
  }

  async #end({ worker, fence, bucket, startedAt, lease }: Due): Promise<void> {
    const { engine, now } = this.#context
    this.#handOut.forget(worker)
    if (lease.end === 'canceled' || lease.end === 'timed_out') {
      const report = endedBy(lease.end, fence, lease.reason, startedAt, now())
      await engine.execute({ kind: 'report', worker, n: null, reports: [report], rows: [] })
    } else if (lease.end === 'lost') {
      engine.touch((state, clock) => state.workers.get(worker)?.coolDown.set(bucket, clock.lease + REST_MS))
      await engine.execute({ kind: 'lose', fence, reason: lease.reason, most: MOST_LOST })
    } else await this.#letGo(worker, fence, lease.reason)
  }

  /** No success followed the failure to report one. */
  async #letGo(worker: string, fence: Fence, reason: string): Promise<void> {
    const { engine } = this.#context
    const note = await engine.read(state => readNote(state.workers.get(worker)?.note ?? null))
    if (note?.held == null || !sameFence(note.held, fence)) return
    await Promise.all([
      engine.execute({ kind: 'lose', fence, reason, most: MOST_LOST }),
      engine.execute({ kind: 'goodbye', worker, reason: 'it could not report an end' }),
      engine.execute({ kind: 'note', worker, note: { ...note, held: null } }),
    ])
  }
}

/** A silent worker that has a job is busy, not away. */
function followLiveness(state: State, worker: WorkerState, now: Now): void {
  const isThere = worker.active.size > 0 || (worker.connected && now.lease - worker.heardAt < QUIET_MS)
  if (isThere !== worker.connected) setConnected(state, worker.id, isThere)
}

function dueOf(state: State, worker: WorkerState, now: Now): readonly Due[] {
  const note = readNote(worker.note)
  if (note === null) return []
  return [...worker.active.values()].flatMap(active => {
    const lease = leaseEnd(active, termsOf(state, active), heldOf(note, active), now)
    if (lease === null) return []
    const { claim, bucket, runningAt, placedAt } = active
    return [{ worker: worker.id, fence: fenceOf(claim), bucket, startedAt: runningAt ?? placedAt, lease }]
  })
}

function heldOf({ held }: ProviderNote, { claim }: ActiveJob): ProviderNote['held'] {
  return held !== null && sameFence(held, claim) ? held : null
}

function termsOf(state: State, { bucket }: ActiveJob) {
  const known = state.buckets.get(bucket)
  const { timeoutMs = null, lostAfterMs = null } = known?.terms ?? {}
  return { type: known?.shape.type, timeoutMs, lostAfterMs }
}

function endedBy(
  outcome: 'canceled' | 'timed_out',
  fence: Fence,
  error: string,
  startedAt: number,
  at: number,
): AttemptReport {
  const nothing = { exitCode: null, signal: null, note: null, result: null, usage: null }
  return { kind: 'ended', fence, at, outcome, error, startedAt, ...nothing }
}

/** It was removed meanwhile. */
function ignoreRefused(error: unknown): void {
  if (!(error instanceof Refused)) throw error
}
