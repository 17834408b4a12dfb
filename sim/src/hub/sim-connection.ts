import type { HubMessage, Report, WorkerMessage } from '@stoker/protocol'
import { hear } from '../../../hub/src/engine/liveness.ts'
import { hearReady } from '../../../hub/src/engine/sessions.ts'
import { HubSession, type HubSessionAction, type HubSessionEvent } from '../../../hub/src/session/hub-session.ts'
import type { SimLoop } from './sim-loop.ts'
import type { SimStreams } from './sim-streams.ts'

/** A message of a worker with the bytes behind it. */
export interface WorkerFrame {
  readonly message: WorkerMessage
  readonly payload: Uint8Array
}

export interface SimConnectionPorts {
  readonly loop: SimLoop
  readonly streams: SimStreams
  readonly now: () => number
  readonly send: (message: HubMessage) => void
  readonly hangUp: () => void
  /** Whether the other end would answer a ping. */
  readonly answers: () => boolean
  readonly admit: (connection: SimConnection, action: Extract<HubSessionAction, { a: 'admit' }>) => void
  /** A planted bug may look at a report before the engine does. */
  readonly tamper: ((report: Report, worker: string) => void) | null
}

/** One worker's connection at the hub: carries out what the session decides, with the same steps as the real one. */
export class SimConnection {
  readonly session: HubSession
  readonly #ports: SimConnectionPorts
  bootId: string | null = null
  #waiting: { readonly report: Report; readonly payload: Uint8Array }[] = []
  #isStoring = false

  constructor(ports: SimConnectionPorts) {
    this.#ports = ports
    this.session = new HubSession({ now: ports.now(), version: 'sim' })
  }

  receive({ message, payload }: WorkerFrame): void {
    this.step({ e: 'message', message, payload })
  }

  step(event: HubSessionEvent): void {
    for (const action of this.session.step(event, this.#ports.now())) this.#perform(action)
  }

  terminate(): void {
    this.#ports.hangUp()
  }

  answers(): boolean {
    return this.#ports.answers()
  }

  #perform(action: HubSessionAction): void {
    switch (action.a) {
      case 'send':
        this.#ports.send(action.message)
        break
      case 'admit':
        this.#ports.admit(this, action)
        break
      case 'take':
        this.#waiting.push(action)
        this.#storeNext()
        break
      case 'heard':
        this.#heard()
        break
      case 'leave':
        this.#leave(action.reason)
        break
      case 'close':
        this.#ports.hangUp()
        break
      case 'live':
        this.#ports.loop.touch((state, now) => {
          for (const { fence, ready } of action.live.attempts)
            if (ready !== undefined) hearReady(state, fence, ready, now.wall)
        })
        break
    }
  }

  #heard(): void {
    const { worker } = this.session
    if (worker === null) return
    const { loop } = this.#ports
    loop.touch((state, now) => {
      const { wasQuiet, mayResume } = hear(state, worker, now)
      if (mayResume) loop.execute({ kind: 'returned', worker }, ignore, ignore)
      else if (wasQuiet) loop.replan()
    })
  }

  #leave(reason: string): void {
    const { worker } = this.session
    if (worker !== null) this.#ports.loop.execute({ kind: 'goodbye', worker, reason }, ignore, ignore)
  }

  /** Batches are stored one after the other; a later one never overtakes. */
  #storeNext(): void {
    if (this.#isStoring) return
    const next = this.#waiting.shift()
    if (next === undefined) return
    const { report, payload } = next
    if (report.chunks.length === 0) {
      this.#report(report, [])
      this.#storeNext()
      return
    }
    this.#isStoring = true
    const stored = (then: () => void) => {
      this.#isStoring = false
      then()
      this.#storeNext()
    }
    this.#ports.streams.append(
      report.chunks,
      payload,
      rows => stored(() => this.#report(report, rows)),
      () => stored(() => this.#ports.hangUp()),
    )
  }

  #report(report: Report, rows: Parameters<SimStreams['committed']>[0]): void {
    const { worker } = this.session
    if (worker === null) return
    this.#ports.tamper?.(report, worker)
    this.#ports.loop.execute(
      { kind: 'report', worker, n: report.n, reports: report.reports, rows },
      ({ ackedBatch, stale }) => {
        if (rows.length > 0) this.#ports.streams.committed(rows)
        this.step({ e: 'reported', ackedBatch, stale })
      },
      () => this.#ports.hangUp(),
    )
  }
}

function ignore(): void {}
