import { mkdtemp } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree, sha256 } from '@stoker/files'
import { type JobRow, parseJobSpec, type Role, writeSpec } from '@stoker/protocol'
import { uuidv7 } from 'uuidv7'
import { Core } from '../../engine/core.ts'
import { LiveBoard } from '../../engine/live-board.ts'
import { EngineLoop } from '../../engine/loop.ts'
import { Recovering } from '../../engine/recover.ts'
import { openMemoryBlobs } from '../../outputs/artifacts/memory/memory-blobs.ts'
import type { Blobs } from '../../outputs/artifacts/port.ts'
import { openMemoryStreams } from '../../outputs/memory/memory-streams.ts'
import type { Streams } from '../../outputs/port.ts'
import { packed } from '../../scheduler/packed.ts'
import { schedulingRules } from '../../scheduler/rules.ts'
import { Doorkeeper, ORDINARY_LIMITS } from '../../serving/rate-limit.ts'
import { createMemoryStore } from '../../store/memory/store.ts'
import type { TrainForgeContext } from './context.ts'
import { createTrainForge, type TrainForge } from './trainforge.ts'

export interface Answer {
  readonly status: number
  readonly text: string
  /** The body as JSON; a test that reads a wrong shape fails by that. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any
}

interface Call {
  readonly token?: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The gateway over a real engine and real HTTP, with a store in memory that outlives restarts and a clock that moves when told to. */
export class TestGateway {
  readonly store = createMemoryStore()
  readonly board = new LiveBoard()
  readonly logged: string[] = []
  readonly folder: string
  readonly #over: Partial<TrainForgeContext>
  #lease = 0
  #open: { engine: EngineLoop; service: TrainForge; server: Server; streams: Streams; blobs: Blobs } | null = null
  token = ''

  private constructor(folder: string, over: Partial<TrainForgeContext>) {
    this.folder = folder
    this.#over = over
  }

  static async open(over: Partial<TrainForgeContext> = {}): Promise<TestGateway> {
    const gateway = new TestGateway(await mkdtemp(join(tmpdir(), 'stoker-trainforge-')), over)
    await gateway.#start()
    gateway.token = await gateway.aToken('worker', 'ann')
    return gateway
  }

  async restart(): Promise<void> {
    await this.#stop()
    await this.#start()
  }

  async close(): Promise<void> {
    await this.#stop()
    await removeTree(this.folder)
  }

  get engine(): EngineLoop {
    return this.#running.engine
  }

  get streams(): Streams {
    return this.#running.streams
  }

  get blobs(): Blobs {
    return this.#running.blobs
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#running.server.address() as AddressInfo).port}`
  }

  get projects(): string {
    return join(this.folder, 'projects')
  }

  /** Time goes by, and the gateway looks at what that brings. */
  async pass(seconds: number): Promise<void> {
    this.#lease += 1000 * seconds
    await this.#running.service.tick()
  }

  async aToken(role: Role, owner: string): Promise<string> {
    const secret = `stk_${uuidv7()}`
    await this.engine.execute({
      ...{ kind: 'addToken', id: uuidv7(), hash: sha256(secret), role, owner, label: '', expiresAt: null },
    })
    return secret
  }

  /** Its id; the owner is the one of the usual token. */
  async submit(spec: object = { command: 'true' }): Promise<string> {
    const parsed = parseJobSpec(spec)
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    const id = uuidv7()
    const job = { id, spec: parsed.spec, specText: writeSpec(parsed.spec), retryOf: null }
    await this.engine.execute({ kind: 'submit', owner: 'ann', jobs: [job], key: null, failFast: false })
    return id
  }

  async job(id: string): Promise<JobRow> {
    const row = await this.store.queries.jobById(id)
    if (row === null) throw new Error(`no job ${id}`)
    return row
  }

  /** How its earlier attempts ended. */
  async earlier(id: string): Promise<readonly { readonly outcome: string; readonly error: string }[]> {
    const rows = await this.store.queries.attemptsOf((await this.job(id)).seq)
    return rows.map(({ body }) => JSON.parse(body))
  }

  /** Stored for the usual owner, as a file of a spec. */
  async aFile(path: string, text: string): Promise<{ path: string; sha256: string; size: number }> {
    const bytes = Buffer.from(text)
    const [size, hash] = [bytes.length, sha256(bytes)]
    const body = (async function* () {
      yield [bytes]
    })()
    await this.blobs.put({ owner: 'ann', sha256: hash, size, first: 0, length: size, body })
    return { path, sha256: hash, size }
  }

  async call(method: string, path: string, { token = this.token, body, headers = {} }: Call = {}): Promise<Answer> {
    const reply = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === null ? {} : { authorization: `Basic ${Buffer.from(`worker:${token}`).toString('base64')}` }),
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: asBody(body) }),
    })
    const text = await reply.text()
    return { status: reply.status, text, json: /^[[{]/.test(text) ? JSON.parse(text) : null }
  }

  get #running() {
    if (this.#open === null) throw new Error('the gateway is closed')
    return this.#open
  }

  async #start(): Promise<void> {
    const { store } = this
    const recovering = new Recovering()
    const now = () => ({ wall: Date.now(), lease: this.#lease })
    const state = recovering.finish(await store.recover(recovering.visit), now())
    const core = new Core(state, packed, schedulingRules)
    core.record({ c: 'epoch', epoch: state.epoch + 1, at: Date.now() })
    const engine = new EngineLoop(core, {
      journal: store,
      now,
      soon: run => void setImmediate(run),
      isDiskFull: () => false,
      openReserve: async () => false,
      recover: () => Promise.reject(new Error('a store in memory never fills up')),
      broken: error => {
        throw error
      },
    })
    const streams = this.#open?.streams ?? openMemoryStreams({ queries: store.queries })
    const blobs = await openMemoryBlobs({
      index: store.queries,
      commit: async rows => {
        await engine.execute({ kind: 'rows', rows })
      },
      now: Date.now,
      checkRoom: async () => {},
    })
    const shared = {
      ...{ engine, queries: store.queries, streams, blobs, board: this.board },
      door: new Doorkeeper(ORDINARY_LIMITS, Date.now),
      isOpen: false,
      isStopping: () => false,
    }
    const gateway: TrainForgeContext = {
      ...shared,
      clock: now,
      newSecret: uuidv7,
      projects: [this.projects],
      keepProjectsMs: 3600_000,
      fetchScript: async () => Buffer.from('print("fetched")'),
      claimable: schedulingRules.claimable,
      log: (_level, text) => void this.logged.push(text),
      ...this.#over,
    }
    const service = await createTrainForge(gateway, {
      ...shared,
      ...{ isOpen: gateway.isOpen, now: () => now().wall, newId: uuidv7, version: '0.0.0-test', diskGuard: () => null },
      unschedulable: schedulingRules.unschedulableSpec,
      scratch: `${this.projects}-uploads`,
      failed: error => void this.logged.push(String(error)),
    })
    const server = createServer(service.request)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    this.#open = { engine, service, server, streams, blobs }
  }

  async #stop(): Promise<void> {
    const { service, server } = this.#running
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    await service.close()
  }
}

function asBody(body: unknown): string | FormData | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string' || body instanceof FormData) return body
  return body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body)
}
