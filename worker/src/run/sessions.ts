import { type Fence, fenceKey, type Holding, type Offer } from '@stoker/protocol'
import type { Execution } from '../executors/port.ts'
import type { StopReason } from './attempt-run.ts'
import type { Delivery } from './delivery.ts'
import type { Isolation } from './isolation.ts'
import type { OutputsStep } from './outputs-step.ts'
import { lostFate, type ProgramFate, unstartedReport } from './program-end.ts'
import { SessionRun } from './session-run.ts'
import type { Workspaces } from './workspace.ts'

const GONE = 'its session is not on this worker, or not any more'

interface SessionsPorts {
  readonly delivery: Delivery
  readonly workspaces: Workspaces
  readonly now: () => number
}

/** The sessions of this worker and the way of tasks to them; a task may come before its session's program runs. */
export class Sessions {
  readonly #ports: SessionsPorts
  readonly #runs = new Map<string, SessionRun>()
  /** Tasks of sessions whose programs are being started, by the session's key. */
  readonly #early = new Map<string, Offer[]>()
  /** Tasks an earlier process of this worker left, by the session's key. */
  readonly #left = new Map<string, Map<string, Offer>>()
  #isDraining = false

  constructor(ports: SessionsPorts) {
    this.#ports = ports
  }

  get taskCount(): number {
    const early = [...this.#early.values()].reduce((sum, tasks) => sum + tasks.length, 0)
    return [...this.#runs.values()].reduce((sum, run) => sum + run.count, early)
  }

  /** Hands a task over to its session, or declines it with the reason. */
  take(offer: Offer): void {
    const key = offer.session === undefined ? '' : fenceKey(offer.session)
    const run = this.#runs.get(key)
    const early = this.#early.get(key)
    const refusal = run === undefined ? GONE : run.refusal
    if (early !== undefined) early.push(offer)
    else if (run !== undefined && refusal === null) this.#give(offer, run)
    else this.#decline(offer, refusal ?? GONE)
  }

  /** True when the fence is that of a task here. */
  stopTask(fence: Fence, reason: StopReason): boolean {
    for (const tasks of this.#early.values()) {
      const at = tasks.findIndex(offer => fenceKey(offer.fence) === fenceKey(fence))
      if (at === -1) continue
      for (const offer of tasks.splice(at, 1))
        this.#tellUnstarted(offer, { outcome: 'canceled', error: reason.text, note: null })
      return true
    }
    return [...this.#runs.values()].some(run => run.stopTask(fence, reason))
  }

  drain(on: boolean): void {
    this.#isDraining = on
    for (const run of this.#runs.values()) run.drain(on)
  }

  /** The program of a session is being started. */
  expect(key: string): void {
    this.#early.set(key, [])
  }

  /** The task a session is started for. */
  firstTask(key: string): Offer | undefined {
    return this.#early.get(key)?.[0]
  }

  begin(
    offer: Offer,
    execution: Execution,
    outputs: OutputsStep,
    isolation: Isolation['isolation'] | null,
  ): SessionRun {
    const key = fenceKey(offer.fence)
    const left = this.#left.get(key)
    const run = new SessionRun(offer, execution, { ...this.#ports, outputs }, isolation, left)
    this.#runs.set(key, run)
    this.#left.delete(key)
    const early = this.#early.get(key) ?? []
    this.#early.delete(key)
    for (const task of early) this.take(task)
    if (this.#isDraining) run.drain(true)
    return run
  }

  /** The session is over, or was never begun: tasks that still came for it go elsewhere. */
  over(key: string): void {
    this.#runs.delete(key)
    for (const offer of this.#early.get(key) ?? []) this.#tellUnstarted(offer, lostFate('its session did not start'))
    this.#early.delete(key)
  }

  /** Sorts out which tasks belong to which session, in the order of their submission, before those are begun again. */
  expectLeft(left: readonly { readonly key: string; readonly offer: Offer | null }[], told: ReadonlySet<string>): void {
    const inOrder = left.toSorted((a, b) => (a.offer?.fence.job ?? 0) - (b.offer?.fence.job ?? 0))
    for (const { key, offer } of inOrder) {
      if (offer?.session === undefined || told.has(key)) continue
      const session = fenceKey(offer.session)
      const tasks = this.#left.get(session) ?? new Map<string, Offer>()
      tasks.set(key, offer)
      this.#left.set(session, tasks)
    }
  }

  /** What the sessions that were begun again hold; tasks of those that were not are lost. */
  resumed(): readonly Holding[] {
    for (const tasks of this.#left.values())
      for (const offer of tasks.values())
        this.#tellUnstarted(offer, lostFate('its session was gone when the worker came back'))
    this.#left.clear()
    return [...this.#runs.values()].flatMap(run => run.holding)
  }

  #give(offer: Offer, run: SessionRun): void {
    try {
      run.take(offer)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#tellUnstarted(offer, { outcome: 'failed', error: reason, note: null })
    }
  }

  #decline({ fence }: Offer, reason: string): void {
    this.#ports.delivery.report([{ kind: 'declined', fence, at: this.#ports.now(), reason }])
  }

  #tellUnstarted({ fence }: Offer, fate: ProgramFate): void {
    this.#ports.delivery.report([unstartedReport(fence, this.#ports.now(), fate)])
  }
}
