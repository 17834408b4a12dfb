import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ChangeOf, type Fence, type Offer, Refused, type Stop } from '@stoker/protocol'
import { WebSocketServer } from 'ws'
import { presentClaim } from '../../engine/claims.ts'
import type { Batch } from '../../engine/core.ts'
import { hear, setConnected } from '../../engine/liveness.ts'
import type { State } from '../../engine/state.ts'
import { refuseUpgrade, type UpgradeRoute } from '../../serving/upgrades.ts'
import type { HubSessionAction } from '../../session/hub-session.ts'
import type { Queries } from '../../store/port.ts'
import { Connection, type ConnectionPorts } from './connection.ts'
import { type Difficulties, withDifficulties } from './default-difficulty.ts'
import { linkPrivacy } from './link-privacy.ts'
import { type LinkPrivacy, needSecrets, type SecretPorts, withSecrets } from './offer-secrets.ts'
import { type OffersByWorker, offersOf, repeatOffers } from './offers.ts'
import { type Credentials, isKnown, Strangers } from './strangers.ts'

/** Where workers of our own protocol dial in. */
const NATIVE_PATH = '/api/v1/native'
const MAX_FRAME_BYTES = 16 * 1024 * 1024
/** A hello, before it is known whose. */
const MAX_STRANGER_FRAME_BYTES = 1024 * 1024
const OLD_CONNECTION_ANSWERS_MS = 2_000

export interface GatewayPorts extends Omit<ConnectionPorts, 'admit' | 'leave' | 'closed'> {
  readonly queries: Queries
  readonly openSecret: SecretPorts['openSecret']
  /** Send values of secrets also over links that others can read. */
  readonly insecureSecrets: boolean
  readonly deviceDifficulty: Difficulties
}

interface Guest {
  readonly credentials: Credentials
  readonly link: LinkPrivacy
}

/** The native gateway: translates between workers' sessions and engine commands, and tells workers what was decided about them. */
export class NativeGateway {
  /** Where workers dial in, on every listener of the hub. */
  readonly upgrades: UpgradeRoute = {
    prefix: NATIVE_PATH,
    take: (request, socket, head) => this.#upgrade(request, socket, head),
  }
  readonly #ports: GatewayPorts
  readonly #server = openServer(MAX_FRAME_BYTES)
  readonly #strangerServer = openServer(MAX_STRANGER_FRAME_BYTES)
  readonly #strangers = new Strangers()
  readonly #byWorker = new Map<string, Connection>()
  readonly #all = new Map<Connection, Guest>()
  /** The newest connection each worker was admitted on. */
  readonly #newest = new Map<string, number>()
  #accepted = 0
  readonly #stopListening: () => void
  readonly #ticker: NodeJS.Timeout
  /** Null when every batch has been told. */
  #publishing: Promise<void> | null = null

  constructor(ports: GatewayPorts) {
    this.#ports = ports
    this.#stopListening = ports.engine.onCommit(batch => this.#publish(batch))
    this.#ticker = setInterval(() => {
      for (const connection of this.#all.keys()) connection.step({ e: 'tick' })
    }, 1000)
  }

  close(): void {
    clearInterval(this.#ticker)
    this.#stopListening()
    for (const connection of this.#all.keys()) connection.terminate()
    this.#server.close()
    this.#strangerServer.close()
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = request.url?.split('?')[0]
    const secret = /^Bearer (.{16,200})$/.exec(request.headers.authorization ?? '')?.[1]
    if (path !== '/' || secret === undefined) {
      refuseUpgrade(socket, path === '/' ? '401 Unauthorized' : '404 Not Found')
      return
    }
    const join = request.headers['x-stoker-join']
    const credentials = { secretHash: sha256(secret), joinHash: typeof join === 'string' ? sha256(join) : null }
    const isStranger = !this.#knows(credentials)
    const leave = isStranger ? this.#strangers.enter(request.socket.remoteAddress ?? '') : () => {}
    if (leave === null) {
      refuseUpgrade(socket, '429 Too Many Requests')
      return
    }
    socket.once('close', leave)
    const server = isStranger ? this.#strangerServer : this.#server
    server.handleUpgrade(request, socket, head, webSocket => {
      this.#accepted += 1
      const connection = new Connection(webSocket, socket, this.#accepted, {
        ...this.#ports,
        admit: (who, action) => void this.#admit(who, action),
        leave: (who, reason) => void this.#leave(who, reason),
        closed: who => this.#closed(who),
      })
      this.#all.set(connection, { credentials, link: this.#linkOf(socket) })
    })
  }

  #knows(credentials: Credentials): boolean {
    let answer = false
    this.#ports.engine.touch(state => {
      answer = isKnown(state, credentials)
    })
    return answer
  }

  async #admit(connection: Connection, action: Extract<HubSessionAction, { a: 'admit' }>): Promise<void> {
    const guest = this.#all.get(connection)
    if (guest === undefined) return
    const hello = withDifficulties(action.hello, this.#ports.deviceDifficulty)
    connection.bootId = hello.bootId
    // A hello that was long on its way tells what its worker held then; one on a newer connection was heard since.
    if (connection.number < (this.#newest.get(hello.workerId) ?? 0)) {
      connection.terminate()
      return
    }
    const old = this.#byWorker.get(hello.workerId)
    if (old !== undefined && old.bootId !== hello.bootId && (await old.answers(OLD_CONNECTION_ANSWERS_MS))) {
      const message = `worker ${hello.workerId} is connected from another process that still answers; stop that one or use another data folder`
      connection.step({ e: 'refused', code: 'worker.duplicate', message, final: false })
      return
    }
    try {
      const admission = await this.#ports.engine.execute({ kind: 'hello', hello, ...guest.credentials })
      this.#newest.set(hello.workerId, Math.max(connection.number, this.#newest.get(hello.workerId) ?? 0))
      const offers = await repeatOffers(admission.reoffer, this.#ports.engine, this.#ports.queries)
      if (!this.#all.has(connection)) return
      this.#byWorker.set(hello.workerId, connection)
      old?.terminate()
      connection.step({ e: 'admitted', ...admission })
      connection.step({ e: 'offer', offers: await withSecrets(offers, guest.link, this.#ports) })
      await this.#tellWhatChanged(connection, hello.workerId, admission.draining)
      this.#setConnected(hello.workerId, true)
      const { workerId: worker, name, version } = hello
      this.#ports.log('info', `worker ${name} is connected, version ${version}`, { worker, name, version })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const final = error.code !== 'disk.full'
      connection.step({ e: 'refused', code: error.code, message: error.message, final })
    }
  }

  /** A cancel may have been decided while the worker was away, and a drain or its end while it was admitted. */
  async #tellWhatChanged(connection: Connection, worker: string, wasDraining: boolean): Promise<void> {
    const { draining, stops } = await this.#ports.engine.read(state => {
      const known = state.workers.get(worker)
      const canceled = [...(known?.active.values() ?? [])].filter(active => active.cancelBy !== null)
      return {
        draining: known?.draining ?? false,
        stops: canceled.map(({ claim, cancelBy }): Stop => {
          const isSession = (state.sessions.get(claim.job)?.endsBy ?? null) !== null
          return { fence: fenceOf(claim), cause: isSession ? 'session' : 'canceled', by: cancelBy }
        }),
      }
    })
    if (draining !== wasDraining) connection.step({ e: 'drain', on: draining })
    connection.step({ e: 'stop', stops })
  }

  async #leave(connection: Connection, reason: string): Promise<void> {
    const worker = connection.session.worker
    if (worker === null || this.#byWorker.get(worker) !== connection) return
    await this.#ports.engine.execute({ kind: 'goodbye', worker, reason }).catch(ignoreRefused)
  }

  #closed(connection: Connection): void {
    this.#all.delete(connection)
    const worker = connection.session.worker
    if (worker === null || this.#byWorker.get(worker) !== connection) return
    this.#byWorker.delete(worker)
    this.#setConnected(worker, false)
    this.#ports.log('info', `worker ${worker} is not connected any more`, { worker })
  }

  #setConnected(worker: string, connected: boolean): void {
    this.#ports.engine.touch((state, now) => {
      setConnected(state, worker, connected)
      if (connected) hear(state, worker, now)
    })
    if (connected) this.#ports.engine.replan()
  }

  /** Batches are told in the order they were committed, though some need the store first. */
  #publish(batch: Batch): void {
    const telling = this.#publishing === null ? this.#tell(batch) : this.#publishing.then(() => this.#tell(batch))
    if (telling === null) return
    const publishing = telling.then(() => {
      if (this.#publishing === publishing) this.#publishing = null
    })
    this.#publishing = publishing
  }

  /** Null when all was told at once. */
  #tell(batch: Batch): Promise<void> | null {
    for (const change of batch.changes) {
      if (change.c === 'stopRequested') void this.#tellStop(change)
      else if (change.c === 'workerDrained') this.#byWorker.get(change.id)?.step({ e: 'drain', on: change.on })
      else if (change.c === 'placed' && change.attempt > 1) void this.#tellStale(change)
      else if (change.c === 'workerRemoved') this.#forgetWorker(change.id)
      else if (change.c === 'attemptEnded' || change.c === 'lost') this.#ports.board.forgetJob(change.job)
    }
    const offers = offersOf(batch, this.#ports.queries, task => this.#sessionOf(task))
    if (offers instanceof Promise)
      return offers.then(async found => {
        await this.#offerAll(found)
      })
    const rest = this.#offerAll(offers)
    // Nothing else is said about new jobs: the worker need not wait until their submitters were answered.
    if (batch.submissions.size > 0) for (const worker of offers.keys()) this.#byWorker.get(worker)?.flush()
    return rest
  }

  #offerAll(byWorker: OffersByWorker): Promise<void> | null {
    const open: [Connection, Promise<readonly Offer[]>][] = []
    for (const [worker, offers] of byWorker) {
      const connection = this.#byWorker.get(worker)
      const guest = connection === undefined ? undefined : this.#all.get(connection)
      if (connection === undefined || guest === undefined) continue
      if (needSecrets(offers)) open.push([connection, withSecrets(offers, guest.link, this.#ports)])
      else connection.step({ e: 'offer', offers })
    }
    return open.length === 0 ? null : offerOpened(open)
  }

  #linkOf(socket: Duplex): LinkPrivacy {
    const link = linkPrivacy(socket)
    return this.#ports.insecureSecrets ? { ...link, isPrivate: true } : link
  }

  #forgetWorker(worker: string): void {
    this.#byWorker.get(worker)?.terminate()
    this.#newest.delete(worker)
    this.#ports.board.forgetWorker(worker)
  }

  #sessionOf(task: Fence): Fence | undefined {
    let session: Fence | undefined
    this.#ports.engine.touch(state => {
      session = presentClaim(state, task)?.session ?? undefined
    })
    return session
  }

  async #tellStop({ job, by, endsSession }: ChangeOf<'stopRequested'>): Promise<void> {
    const claim = await this.#ports.engine.read(state => state.active.get(job)?.claim)
    const cause = endsSession === true ? 'session' : 'canceled'
    if (claim !== undefined)
      this.#byWorker.get(claim.worker)?.step({ e: 'stop', stops: [{ fence: fenceOf(claim), cause, by }] })
  }

  /** Another attempt took the place of a lost one: whoever still runs the old one must stop. */
  async #tellStale({ job, attempt }: { readonly job: number; readonly attempt: number }): Promise<void> {
    const lost = await this.#ports.engine.read(state => lostAttemptsOf(state, job, attempt))
    for (const { worker, fence } of lost)
      this.#byWorker.get(worker)?.step({ e: 'stop', stops: [{ fence, cause: 'stale', by: null }] })
  }
}

function lostAttemptsOf(state: State, job: number, before: number): { worker: string; fence: Fence }[] {
  return [...state.workers.values()].flatMap(worker =>
    [...worker.lost.values()]
      .filter(({ claim }) => claim.job === job && claim.attempt < before)
      .map(({ claim }) => ({ worker: worker.id, fence: fenceOf(claim) })),
  )
}

async function offerOpened(offers: readonly (readonly [Connection, Promise<readonly Offer[]>])[]): Promise<void> {
  for (const [connection, opened] of offers) connection.step({ e: 'offer', offers: await opened })
}

function fenceOf({ job, epoch, attempt }: Fence): Fence {
  return { job, epoch, attempt }
}

/** A worker that was removed meanwhile has nothing to say goodbye to. */
function ignoreRefused(error: unknown): void {
  if (!(error instanceof Refused)) throw error
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function openServer(maxPayload: number): WebSocketServer {
  return new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false })
}
