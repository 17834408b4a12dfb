import { type ChangeOf, type Fence, type Hello, type JobSpec, type Offer, readSpec, type Stop } from '@stoker/protocol'
import { presentClaim } from '../../../hub/src/engine/claims.ts'
import type { NewJob } from '../../../hub/src/engine/commands.ts'
import type { Batch } from '../../../hub/src/engine/core.ts'
import { setConnected } from '../../../hub/src/engine/liveness.ts'
import type { State } from '../../../hub/src/engine/state.ts'
import type { MemoryTables } from '../../../hub/src/store/memory/tables.ts'
import { SimConnection, type SimConnectionPorts } from './sim-connection.ts'

/** As long as the real gateway waits for a pong of the connection a newcomer wants to replace. */
const OLD_CONNECTION_ANSWERS_MS = 2_000

const DUPLICATE = 'the worker is connected from another process that still answers'

const NO_OFFERS: ReadonlyMap<string, readonly Offer[]> = new Map()

export interface Credentials {
  readonly secretHash: string
  readonly joinHash: string
}

export interface SimGatewayPorts extends Pick<SimConnectionPorts, 'loop' | 'streams' | 'now' | 'tamper'> {
  readonly tables: MemoryTables
  readonly after: (ms: number, run: () => void) => void
  /** How long a look into the store takes. */
  readonly queryMs: () => number
  /** Specs as they were submitted, to spare parsing them; null to read and parse what is stored. */
  readonly specs: ReadonlyMap<number, Pick<NewJob, 'id' | 'spec'>> | null
}

/** The native gateway under virtual time: the same steps, with the pauses of the real one between them. */
export class SimGateway {
  readonly #ports: SimGatewayPorts
  readonly #byWorker = new Map<string, SimConnection>()
  readonly #all = new Map<SimConnection, Credentials>()
  /** In the order in which connections were accepted. */
  readonly #numbers = new Map<SimConnection, number>()
  /** The newest connection each worker has greeted on. */
  readonly #newest = new Map<string, number>()
  #accepted = 0
  #isTelling = false
  #untold: Batch[] = []

  constructor(ports: SimGatewayPorts) {
    this.#ports = ports
  }

  accept(credentials: Credentials, link: Pick<SimConnectionPorts, 'send' | 'hangUp' | 'answers'>): SimConnection {
    const { loop, streams, now, tamper } = this.#ports
    const admit: SimConnectionPorts['admit'] = (who, { hello }) => this.#admit(who, hello)
    const connection = new SimConnection({ loop, streams, now, tamper, ...link, admit })
    this.#all.set(connection, credentials)
    this.#accepted += 1
    this.#numbers.set(connection, this.#accepted)
    return connection
  }

  closed(connection: SimConnection): void {
    this.#all.delete(connection)
    this.#numbers.delete(connection)
    const { worker } = connection.session
    if (worker === null || this.#byWorker.get(worker) !== connection) return
    this.#byWorker.delete(worker)
    this.#setConnected(worker, false)
  }

  tick(): void {
    for (const connection of [...this.#all.keys()]) connection.step({ e: 'tick' })
  }

  /** Batches are told in the order they were committed, though some need the store first. */
  publish(batch: Batch): void {
    this.#untold.push(batch)
    if (!this.#isTelling) this.#tellNext()
  }

  #admit(connection: SimConnection, hello: Hello): void {
    connection.bootId = hello.bootId
    const old = this.#byWorker.get(hello.workerId)
    if (old === undefined || old.bootId === hello.bootId) this.#greet(connection, hello)
    else if (old.answers())
      connection.step({ e: 'refused', code: 'worker.duplicate', message: DUPLICATE, final: false })
    else this.#ports.after(OLD_CONNECTION_ANSWERS_MS, () => this.#greet(connection, hello))
  }

  #greet(connection: SimConnection, hello: Hello): void {
    const credentials = this.#all.get(connection)
    if (credentials === undefined) return
    if (this.#isLate(connection, hello)) {
      connection.terminate()
      return
    }
    const { loop } = this.#ports
    loop.execute(
      { kind: 'hello', hello, ...credentials },
      admission => this.#repeatOffers(admission.reoffer, offers => this.#welcome(connection, hello, admission, offers)),
      ({ code, message }) => connection.step({ e: 'refused', code, message, final: code !== 'disk.full' }),
    )
  }

  /** A hello that was long on its way tells what its worker held then; one on a newer connection was heard since. */
  #isLate(connection: SimConnection, { workerId }: Hello): boolean {
    const number = this.#numbers.get(connection) ?? 0
    const newest = this.#newest.get(workerId) ?? 0
    this.#newest.set(workerId, Math.max(number, newest))
    return number < newest
  }

  #welcome(
    connection: SimConnection,
    { workerId }: Hello,
    admission: { ackedBatch: number; stale: readonly Fence[]; draining: boolean; epoch: number },
    offers: readonly Offer[],
  ): void {
    if (!this.#all.has(connection)) return
    const old = this.#byWorker.get(workerId)
    this.#byWorker.set(workerId, connection)
    old?.terminate()
    connection.step({ e: 'admitted', ...admission })
    connection.step({ e: 'offer', offers })
    this.#ports.loop.read(state => {
      const draining = state.workers.get(workerId)?.draining ?? false
      if (draining !== admission.draining) connection.step({ e: 'drain', on: draining })
      const stops = [...(state.workers.get(workerId)?.active.values() ?? [])]
        .filter(active => active.cancelBy !== null)
        .map(
          (active): Stop => ({ fence: fenceOf(active.claim), cause: causeOf(state, active.seq), by: active.cancelBy }),
        )
      connection.step({ e: 'stop', stops })
      this.#setConnected(workerId, true)
    })
  }

  #setConnected(worker: string, connected: boolean): void {
    this.#ports.loop.touch((state, now) => {
      setConnected(state, worker, connected)
      const known = state.workers.get(worker)
      if (connected && known !== undefined) {
        known.heardAt = now.lease
        known.seenAt = now.wall
      }
    })
    if (connected) this.#ports.loop.replan()
  }

  #tellNext(): void {
    const batch = this.#untold.shift()
    this.#isTelling = batch !== undefined
    if (batch === undefined) return
    this.#tellChanges(batch)
    this.#offersOf(batch, offers => {
      for (const [worker, list] of offers) this.#byWorker.get(worker)?.step({ e: 'offer', offers: list })
      this.#tellNext()
    })
  }

  #tellChanges(batch: Batch): void {
    for (const change of batch.changes) {
      switch (change.c) {
        case 'stopRequested':
          this.#tellStop(change.job, change.by)
          break
        case 'workerDrained':
          this.#byWorker.get(change.id)?.step({ e: 'drain', on: change.on })
          break
        case 'placed':
          if (change.attempt > 1) this.#tellStale(change)
          break
        case 'workerRemoved':
          this.#byWorker.get(change.id)?.terminate()
          break
        default:
      }
    }
  }

  #tellStop(job: number, by: string): void {
    this.#ports.loop.read(state => {
      const claim = state.active.get(job)?.claim
      if (claim === undefined) return
      this.#byWorker
        .get(claim.worker)
        ?.step({ e: 'stop', stops: [{ fence: fenceOf(claim), cause: causeOf(state, job), by }] })
    })
  }

  #tellStale({ job, attempt }: Fence): void {
    this.#ports.loop.read(state => {
      for (const { worker, fence } of lostAttemptsOf(state, job, attempt))
        this.#byWorker.get(worker)?.step({ e: 'stop', stops: [{ fence, cause: 'stale', by: null }] })
    })
  }

  #offersOf(batch: Batch, then: (offers: ReadonlyMap<string, readonly Offer[]>) => void): void {
    const placed: ChangeOf<'placed'>[] = []
    for (const change of batch.changes) if (change.c === 'placed') placed.push(change)
    if (placed.length === 0) {
      then(NO_OFFERS)
      return
    }
    const look = () => {
      const byWorker = new Map<string, Offer[]>()
      for (const { job, epoch, attempt, worker, gpus, session: isTask } of placed) {
        const session = isTask === undefined ? null : this.#sessionOf({ job, epoch, attempt })
        if (isTask !== undefined && session === null) continue
        const found = batch.submissions.get(job) ?? this.#ports.specs?.get(job) ?? this.#stored(job)
        if (found === null) throw new Error(`job ${job} was placed but the store does not know it`)
        const offers = byWorker.get(worker) ?? []
        const { id, spec } = found
        const offer = { fence: { job, epoch, attempt }, id, spec, gpus: [...gpus] }
        offers.push(session === null ? offer : { ...offer, session })
        byWorker.set(worker, offers)
      }
      then(byWorker)
    }
    if (placed.every(({ job }) => batch.submissions.has(job))) look()
    else this.#ports.after(this.#ports.queryMs(), look)
  }

  #repeatOffers(fences: readonly Fence[], then: (offers: readonly Offer[]) => void): void {
    if (fences.length === 0) {
      this.#ports.after(0, () => then([]))
      return
    }
    this.#ports.after(this.#ports.queryMs(), () => {
      this.#ports.loop.read(state =>
        then(
          fences.flatMap(fence => {
            const found = this.#stored(fence.job)
            const claim = presentClaim(state, fence)
            if (found === null || claim === undefined) return []
            return [{ fence, id: found.id, spec: found.spec, gpus: [...claim.gpus], ...inside(claim.session) }]
          }),
        ),
      )
    })
  }

  #sessionOf(task: Fence): Fence | null {
    let session: Fence | null = null
    this.#ports.loop.touch(state => {
      session = presentClaim(state, task)?.session ?? null
    })
    return session
  }

  #stored(job: number): { readonly id: string; readonly spec: JobSpec } | null {
    const row = this.#ports.tables.queries.offers([job])[0]
    return row === undefined ? null : { id: row.id, spec: readSpec(row.spec) }
  }
}

function inside(session: Fence | null): Pick<Offer, 'session'> {
  return session === null ? {} : { session }
}

function causeOf(state: State, job: number): Stop['cause'] {
  return (state.sessions.get(job)?.endsBy ?? null) === null ? 'canceled' : 'session'
}

function lostAttemptsOf(state: State, job: number, before: number): { worker: string; fence: Fence }[] {
  return [...state.workers.values()].flatMap(worker =>
    [...worker.lost.values()]
      .filter(({ claim }) => claim.job === job && claim.attempt < before)
      .map(({ claim }) => ({ worker: worker.id, fence: fenceOf(claim) })),
  )
}

function fenceOf({ job, epoch, attempt }: Fence): Fence {
  return { job, epoch, attempt }
}
