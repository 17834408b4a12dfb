import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree, sha256 } from '@stoker/files'
import type { JobRow, JobSpecInput, Role } from '@stoker/protocol'
import { uuidv7 } from 'uuidv7'
import type { LiveBoard } from '../../engine/live-board.ts'
import type { EngineLoop } from '../../engine/loop.ts'
import type { Now } from '../../engine/state.ts'
import type { Blobs } from '../../outputs/artifacts/port.ts'
import type { Streams } from '../../outputs/port.ts'
import { schedulingRules } from '../../scheduler/rules.ts'
import { Doorkeeper, ORDINARY_LIMITS } from '../../serving/rate-limit.ts'
import type { Store } from '../../store/port.ts'
import { GatewayHouse, type OpensGateway } from '../test-gateway-house.ts'
import type { TrainForgeContext } from './context.ts'
import { createTrainForge } from './trainforge.ts'

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

/** What a house gives the gateway, and a folder for its projects. */
export function testContext(house: GatewayHouse, projects: string): TrainForgeContext {
  const { engine, store, streams, blobs, board, now, logged } = house
  let clock: Now = { wall: 0, lease: 0 }
  return {
    ...{ engine, queries: store.queries, streams, blobs, board },
    clock: () => {
      engine.touch((_state, passed) => {
        clock = passed
      })
      return clock
    },
    door: new Doorkeeper(ORDINARY_LIMITS, now),
    newSecret: uuidv7,
    projects: [projects],
    keepProjectsMs: 3600_000,
    fetchScript: async () => Buffer.from('print("fetched")'),
    claimable: schedulingRules.claimable,
    isOpen: false,
    isStopping: () => false,
    log: (_level, text) => void logged.push(text),
  }
}

export function opensTrainForge(projects: string, over: Partial<TrainForgeContext> = {}): OpensGateway {
  return house => {
    const gateway = { ...testContext(house, projects), ...over }
    return createTrainForge(gateway, {
      ...gateway,
      ...{ now: house.now, newId: uuidv7, version: '0.0.0-test', diskGuard: () => null },
      unschedulable: schedulingRules.unschedulableSpec,
      scratch: `${projects}-uploads`,
      failed: error => void house.logged.push(String(error)),
    })
  }
}

/** A house with this gateway, called as workers call it; the usual token is one of a worker's. */
export class TestGateway {
  readonly #house: GatewayHouse
  readonly folder: string
  readonly token: string

  private constructor(house: GatewayHouse, folder: string, token: string) {
    this.#house = house
    this.folder = folder
    this.token = token
  }

  static async open(over: Partial<TrainForgeContext> = {}): Promise<TestGateway> {
    const folder = await mkdtemp(join(tmpdir(), 'stoker-trainforge-'))
    const house = await GatewayHouse.open(opensTrainForge(join(folder, 'projects'), over))
    return new TestGateway(house, folder, await house.token('worker'))
  }

  restart(): Promise<void> {
    return this.#house.restart()
  }

  async close(): Promise<void> {
    await this.#house.close()
    await removeTree(this.folder)
  }

  get engine(): EngineLoop {
    return this.#house.engine
  }

  get store(): Store {
    return this.#house.store
  }

  get board(): LiveBoard {
    return this.#house.board
  }

  get streams(): Streams {
    return this.#house.streams
  }

  get blobs(): Blobs {
    return this.#house.blobs
  }

  get logged(): readonly string[] {
    return this.#house.logged
  }

  get url(): string {
    return this.#house.url
  }

  get projects(): string {
    return join(this.folder, 'projects')
  }

  /** Time goes by, and the gateway looks at what that brings. */
  pass(seconds: number): Promise<void> {
    return this.#house.pass(1000 * seconds)
  }

  aToken(role: Role, owner: string): Promise<string> {
    return this.#house.token(role, owner)
  }

  submit(spec: JobSpecInput = { command: 'true' }): Promise<string> {
    return this.#house.submit(spec)
  }

  job(id: string): Promise<JobRow> {
    return this.#house.job(id)
  }

  outputOf(id: string): Promise<string> {
    return this.#house.output(id, 'stdout')
  }

  /** How its earlier attempts ended. */
  async earlier(id: string): Promise<readonly { readonly outcome: string; readonly error: string }[]> {
    return (await this.#house.attempts(id)).map(({ body }) => JSON.parse(body))
  }

  /** Stored for the usual owner, as a file of a spec. */
  async aFile(path: string, text: string): Promise<{ path: string; sha256: string; size: number }> {
    const bytes = Buffer.from(text)
    const [size, hash] = [bytes.length, sha256(bytes)]
    const body = (async function* () {
      yield [bytes]
    })()
    await this.blobs.put({ owner: 'ada', sha256: hash, size, first: 0, length: size, body })
    return { path, sha256: hash, size }
  }

  async call(method: string, path: string, { token = this.token, body, headers = {} }: Call = {}): Promise<Answer> {
    const reply = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        connection: 'close',
        ...(token === null ? {} : { authorization: `Basic ${Buffer.from(`worker:${token}`).toString('base64')}` }),
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: asBody(body) }),
    })
    const text = await reply.text()
    return { status: reply.status, text, json: /^[[{]/.test(text) ? JSON.parse(text) : null }
  }
}

function asBody(body: unknown): string | FormData | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string' || body instanceof FormData) return body
  return body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body)
}
