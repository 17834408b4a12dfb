import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sha256 } from '@stoker/files'
import { type AttemptRow, type JobRow, type JobSpecInput, parseJobSpec, type Role, writeSpec } from '@stoker/protocol'
import { uuidv7 } from 'uuidv7'
import { expect } from 'vitest'
import { Core } from '../engine/core.ts'
import { LiveBoard } from '../engine/live-board.ts'
import { EngineLoop } from '../engine/loop.ts'
import { Recovering } from '../engine/recover.ts'
import type { Now } from '../engine/state.ts'
import { openMemoryBlobs } from '../outputs/artifacts/memory/memory-blobs.ts'
import type { Blobs } from '../outputs/artifacts/port.ts'
import { openMemoryStreams } from '../outputs/memory/memory-streams.ts'
import type { Streams } from '../outputs/port.ts'
import { packed } from '../scheduler/packed.ts'
import { schedulingRules } from '../scheduler/rules.ts'
import { createMemoryStore } from '../store/memory/store.ts'
import { verifyData } from '../verify/verify-data.ts'

/** A gateway at work in a house. */
export interface OpenGateway {
  readonly request?: RequestListener | undefined
  readonly attach?: ((server: Server) => void) | undefined
  /** What it does every second. */
  readonly tick?: (() => Promise<void>) | undefined
  close(): void | Promise<void>
}

export type OpensGateway = (house: GatewayHouse) => OpenGateway | Promise<OpenGateway>

/** A hub around one gateway on a real port: engine, scheduler and streams are the real ones, the time is the test's, and a restart leaves only what was stored. */
export class GatewayHouse {
  readonly store = createMemoryStore()
  readonly logged: string[] = []
  board = new LiveBoard()
  readonly #segments = new Map<number, Uint8Array[]>()
  readonly #opens: OpensGateway
  #now: Now = { wall: 1_800_000_000_000, lease: 0 }
  #engine: EngineLoop | null = null
  #streams: Streams | null = null
  #blobs: Blobs | null = null
  #gateway: OpenGateway | null = null
  #server: Server | null = null
  #port = 0

  private constructor(opens: OpensGateway) {
    this.#opens = opens
  }

  static async open(opens: OpensGateway): Promise<GatewayHouse> {
    const house = new GatewayHouse(opens)
    await house.#start()
    return house
  }

  get engine(): EngineLoop {
    return there(this.#engine)
  }

  get streams(): Streams {
    return there(this.#streams)
  }

  get blobs(): Blobs {
    return there(this.#blobs)
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  readonly now = (): number => this.#now.wall

  /** So much time goes by at once, as a tick sees it. */
  async pass(ms: number): Promise<void> {
    this.#now = { wall: this.#now.wall + ms, lease: this.#now.lease + ms }
    await this.engine.execute({ kind: 'tick' })
    await this.#gateway?.tick?.()
  }

  /** As a kill and a start do it: connections end, memory is gone. */
  async restart(): Promise<void> {
    await this.#stop()
    await this.#start()
  }

  async token(role: Role, owner = 'ada'): Promise<string> {
    const secret = `stk_${randomBytes(24).toString('base64url')}`
    const token = {
      kind: 'addToken',
      id: uuidv7(),
      hash: sha256(secret),
      role,
      owner,
      label: '',
      expiresAt: null,
    } as const
    await this.engine.execute(token)
    return secret
  }

  async submit(spec: JobSpecInput): Promise<string> {
    const parsed = parseJobSpec(spec)
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    const job = { id: uuidv7(), spec: parsed.spec, specText: writeSpec(parsed.spec), retryOf: null }
    await this.engine.execute({ kind: 'submit', owner: 'ada', jobs: [job], key: null, failFast: false })
    return job.id
  }

  async cancel(id: string): Promise<void> {
    await this.engine.execute({ kind: 'cancel', job: (await this.job(id)).seq, by: 'ada' })
    await this.#gateway?.tick?.()
  }

  async job(id: string): Promise<JobRow> {
    const row = await this.store.queries.jobById(id)
    if (row === null) throw new Error(`job ${id} should be there`)
    return row
  }

  async attempts(id: string): Promise<readonly AttemptRow[]> {
    return this.store.queries.attemptsOf((await this.job(id)).seq)
  }

  /** What its last attempt printed. */
  async output(id: string, stream: 'stdout' | 'stderr'): Promise<string> {
    const { seq, attemptEpoch, attempts } = await this.job(id)
    const fence = { job: seq, epoch: attemptEpoch ?? 0, attempt: attempts }
    const { pieces } = await this.streams.read(fence, { stdout: 0, stderr: 0 }, { stream, maxBytes: 1e7 })
    return Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()
  }

  /** Every guarantee holds of what is stored. */
  async expectSound(): Promise<void> {
    expect((await verifyData({ store: this.store })).problems).toEqual([])
  }

  async close(): Promise<void> {
    await this.#stop()
    await this.expectSound()
    await this.store.close()
  }

  async #start(): Promise<void> {
    const recovering = new Recovering()
    const state = recovering.finish(await this.store.recover(recovering.visit), this.#now)
    const core = new Core(state, packed, schedulingRules)
    core.record({ c: 'epoch', epoch: state.epoch + 1, at: this.#now.wall })
    this.#engine = new EngineLoop(core, {
      journal: this.store,
      now: () => this.#now,
      soon: run => void setImmediate(run),
      isDiskFull: () => false,
      openReserve: async () => false,
      recover: () => Promise.reject(new Error('a store in memory never fills up')),
      broken: error => {
        throw error
      },
    })
    this.board = new LiveBoard()
    this.#streams = openMemoryStreams({ queries: this.store.queries, segments: this.#segments })
    const commit = async (rows: Parameters<Streams['committed']>[0]) => {
      await this.engine.execute({ kind: 'rows', rows })
    }
    this.#blobs = await openMemoryBlobs({ index: this.store.queries, commit, now: this.now, checkRoom: async () => {} })
    const gateway = await this.#opens(this)
    this.#gateway = gateway
    this.#server = createServer(gateway.request ?? ((_request, response) => response.writeHead(404).end()))
    gateway.attach?.(this.#server)
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async #stop(): Promise<void> {
    const server = there(this.#server)
    server.close()
    server.closeAllConnections()
    await this.#gateway?.close()
    if (server.listening) await once(server, 'close')
    await this.#streams?.close()
  }
}

function there<T>(part: T | null): T {
  if (part === null) throw new Error('the house is not open')
  return part
}
