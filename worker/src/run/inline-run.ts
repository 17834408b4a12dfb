import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EndedReport, Offer } from '@stoker/protocol'
import { type InlineEnd, inlineEnd } from '../executors/inline.ts'
import type { StopReason } from './attempt-run.ts'
import type { Delivery } from './delivery.ts'
import type { Workspaces } from './workspace.ts'

export interface InlinePorts {
  readonly delivery: Delivery
  readonly workspaces: Workspaces
  readonly now: () => number
  readonly ended: () => void
}

type InlineStop = StopReason | { readonly cause: 'deadline'; readonly text: string }

const TIMED_OUT: InlineStop = { cause: 'deadline', text: 'Task timeout exceeded' }
const OUTCOMES = {
  canceled: 'canceled',
  stale: 'canceled',
  session: 'canceled',
  shutdown: 'lost',
  deadline: 'timed_out',
} as const

/** An attempt the worker answers itself. One that takes no time is told in a single report. */
export class InlineRun {
  readonly #offer: Offer
  readonly #ports: InlinePorts
  readonly #startedAt: number
  readonly #end: InlineEnd
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(offer: Offer, ports: InlinePorts) {
    this.#offer = offer
    this.#ports = ports
    this.#startedAt = ports.now()
    const { runMs, end } = inlineEnd(offer.spec)
    this.#end = end
    if (runMs === 0) {
      this.#finish(null)
      return
    }
    const { timeoutMs } = offer.spec
    const isTooLong = timeoutMs !== null && runMs > timeoutMs
    this.#timer = setTimeout(() => this.#finish(isTooLong ? TIMED_OUT : null), isTooLong ? timeoutMs : runMs)
    ports.delivery.report([{ kind: 'running', fence: offer.fence, at: this.#startedAt, isolation: 'inline' }])
  }

  get isOver(): boolean {
    return this.#isOver
  }

  stop(reason: StopReason): void {
    this.#finish(reason)
  }

  #finish(stop: InlineStop | null): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    if (stop !== null || this.#end.stdout === '') this.#tell(stop)
    else void this.#print().then(() => this.#tell(null))
  }

  async #print(): Promise<void> {
    const folder = this.#ports.workspaces.make(this.#offer)
    await writeFile(join(folder, 'stdout'), this.#end.stdout)
    this.#ports.delivery.output(this.#offer.fence, { stdout: Buffer.byteLength(this.#end.stdout), stderr: 0 })
  }

  #tell(stop: InlineStop | null): void {
    const { exitCode, error, result } = this.#end
    const told = {
      fence: this.#offer.fence,
      at: this.#ports.now(),
      startedAt: this.#startedAt,
      signal: null,
      note: null,
      usage: null,
    }
    const report: EndedReport =
      stop === null
        ? {
            kind: 'ended',
            ...told,
            outcome: exitCode === 0 ? 'completed' : 'failed',
            exitCode,
            error: error ?? exitText(exitCode),
            result,
          }
        : {
            kind: 'ended',
            ...told,
            outcome: OUTCOMES[stop.cause],
            exitCode: null,
            error: stop.text,
            result: null,
          }
    this.#ports.delivery.report([report])
    this.#ports.ended()
  }
}

function exitText(exitCode: number): string | null {
  return exitCode === 0 ? null : `exited with code ${exitCode}`
}
