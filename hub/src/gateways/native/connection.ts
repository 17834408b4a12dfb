import type { Duplex } from 'node:stream'
import type { Log } from '@stoker/files'
import {
  type Abilities,
  decodeFrame,
  type HubMessage,
  type Live,
  Refused,
  type Report,
  type RowWrite,
  sameFence,
  textOfMessage,
  WorkerMessage,
} from '@stoker/protocol'
import type { WebSocket } from 'ws'
import { hearDevices } from '../../engine/device-news.ts'
import type { LiveBoard } from '../../engine/live-board.ts'
import { hear } from '../../engine/liveness.ts'
import type { EngineLoop } from '../../engine/loop.ts'
import { hearReady } from '../../engine/sessions.ts'
import type { Blobs } from '../../outputs/artifacts/port.ts'
import { type OutputChunk, StreamGap, type Streams } from '../../outputs/port.ts'
import { HubSession, type HubSessionAction, type HubSessionEvent } from '../../session/hub-session.ts'
import { holdArtifacts } from './artifacts.ts'

export interface ConnectionPorts {
  readonly engine: EngineLoop
  readonly streams: Streams
  readonly blobs: Blobs
  readonly board: LiveBoard
  readonly version: string
  readonly now: () => number
  readonly log: Log
  readonly admit: (connection: Connection, action: Extract<HubSessionAction, { a: 'admit' }>) => void
  readonly leave: (connection: Connection, reason: string) => void
  readonly closed: (connection: Connection) => void
}

/** One worker's socket: carries out what the session decides, in order. */
export class Connection {
  readonly session: HubSession
  /** In the order of their opening. */
  readonly number: number
  readonly #socket: WebSocket
  readonly #wire: Duplex
  readonly #ports: ConnectionPorts
  bootId: string | null = null
  /** Batches are stored one after the other; a later one never overtakes. */
  #reports: Promise<void> = Promise.resolve()
  #isGathering = false

  /** `wire` is what carries the socket's frames. */
  constructor(socket: WebSocket, wire: Duplex, number: number, ports: ConnectionPorts) {
    this.#socket = socket
    this.#wire = wire
    this.number = number
    this.#ports = ports
    this.session = new HubSession({ now: ports.now(), version: ports.version })
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary))
    socket.on('close', () => ports.closed(this))
    socket.on('error', () => socket.terminate())
  }

  step(event: HubSessionEvent): void {
    for (const action of this.session.step(event, this.#ports.now())) this.#perform(action)
  }

  terminate(): void {
    this.#socket.terminate()
  }

  /** Whether the other end still answers. */
  answers(withinMs: number): Promise<boolean> {
    return new Promise(resolve => {
      const timer = setTimeout(() => done(false), withinMs)
      const onPong = () => done(true)
      const done = (answer: boolean) => {
        clearTimeout(timer)
        this.#socket.off('pong', onPong)
        resolve(answer)
      }
      this.#socket.on('pong', onPong)
      this.#socket.ping()
    })
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const parsed = parse(data, isBinary)
    if (parsed === null) {
      this.#ports.log('warn', `a worker sent ${data.length} bytes that are no message; its connection is closed`)
      this.#socket.close(1008, 'not a message')
      return
    }
    this.step({ e: 'message', ...parsed })
  }

  #perform(action: HubSessionAction): void {
    switch (action.a) {
      case 'send':
        this.#send(action.message)
        break
      case 'admit':
        this.#ports.admit(this, action)
        break
      case 'take':
        this.#take(action.report, action.payload)
        break
      case 'live':
        this.#ports.board.put(this.session.worker ?? '', action.live)
        this.#hearLive(action.live)
        break
      case 'able':
        this.#able(action.abilities)
        break
      case 'heard':
        this.#heard()
        break
      case 'leave':
        this.#ports.leave(this, action.reason)
        break
      case 'close':
        this.#ports.log('info', `worker ${this.session.worker ?? '(unknown)'}: ${action.why}`, this.#who)
        this.#socket.close(1008, action.why.slice(0, 120))
        break
    }
  }

  get #who(): { readonly worker: string | null } {
    return { worker: this.session.worker }
  }

  /** An acknowledgement and the offers it made room for leave in one write. */
  #send(message: HubMessage): void {
    if (!this.#isGathering) {
      this.#isGathering = true
      this.#wire.cork()
      process.nextTick(() => this.flush())
    }
    this.#socket.send(textOfMessage(message))
  }

  /** Sends what was gathered. */
  flush(): void {
    if (!this.#isGathering) return
    this.#isGathering = false
    this.#wire.uncork()
  }

  #hearLive({ devices, attempts }: Live): void {
    const { engine } = this.#ports
    engine.touch((state, now) => {
      for (const { fence, ready } of attempts) if (ready !== undefined) hearReady(state, fence, ready, now.wall)
      if (devices !== undefined && hearDevices(state, this.session.worker ?? '', devices)) engine.replan()
    })
  }

  #able(abilities: Abilities): void {
    const worker = this.session.worker
    if (worker === null) return
    void this.#ports.engine.execute({ kind: 'abilities', worker, abilities }).catch(error => this.#fail(error))
  }

  #heard(): void {
    const worker = this.session.worker
    if (worker === null) return
    const { engine } = this.#ports
    engine.touch((state, now) => {
      const { wasQuiet, mayResume } = hear(state, worker, now)
      if (mayResume) void engine.execute({ kind: 'returned', worker }).catch(error => this.#fail(error))
      else if (wasQuiet) engine.replan()
    })
  }

  /** Output is in the segment before the engine hears of its batch; both are durable before the acknowledgement. */
  #take(report: Report, payload: Uint8Array): void {
    this.#reports = this.#reports.then(() => this.#store(report, payload))
  }

  async #store(report: Report, payload: Uint8Array): Promise<void> {
    const worker = this.session.worker
    if (worker === null) return
    try {
      const rows = report.chunks.length === 0 ? [] : await this.#append(cut(report, payload))
      const { missing, release } = await holdArtifacts(this.#ports, report.reports)
      this.#ports.engine
        .execute({ kind: 'report', worker, n: report.n, reports: report.reports, rows, missing })
        .finally(release)
        .then(({ ackedBatch, stale }) => {
          if (rows.length > 0) this.#ports.streams.committed(rows)
          this.step({ e: 'reported', ackedBatch, stale })
        })
        .catch(error => this.#fail(error))
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Only a hub restored from a backup lacks output it acknowledged before: what follows the hole cannot be kept, the rest goes on. */
  async #append(chunks: readonly OutputChunk[]): Promise<readonly RowWrite[]> {
    if (chunks.length === 0) return []
    try {
      return await this.#ports.streams.append(chunks)
    } catch (error) {
      if (!(error instanceof StreamGap)) throw error
      this.#ports.log('warn', `output is dropped behind a hole: ${error.message}`)
      return this.#append(
        chunks.filter(({ fence, stream }) => stream !== error.stream || !sameFence(fence, error.fence)),
      )
    }
  }

  /** Nothing was acknowledged: the worker keeps its batch and sends it again on its next connection. */
  #fail(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error)
    this.#ports.log('warn', `worker ${this.session.worker ?? '(unknown)'}: a batch was not taken: ${why}`, this.#who)
    this.#socket.close(error instanceof Refused ? 1008 : 1011, why.slice(0, 120))
  }
}

function parse(data: Buffer, isBinary: boolean): { message: WorkerMessage; payload: Uint8Array } | null {
  try {
    const { message, payload } = isBinary
      ? decodeFrame(data)
      : { message: JSON.parse(data.toString()), payload: new Uint8Array() }
    return { message: WorkerMessage.parse(message), payload }
  } catch {
    return null
  }
}

function cut(report: Report, payload: Uint8Array) {
  let at = 0
  return report.chunks.map(({ fence, stream, offset, length, at: time }) => {
    const bytes = payload.subarray(at, at + length)
    at += length
    return { fence, stream, offset, at: time, bytes }
  })
}
