import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { sha256 } from '@stoker/files'
import type { Role } from '@stoker/protocol'
import type { FastifyInstance } from 'fastify'
import { uuidv7 } from 'uuidv7'
import { Core } from '../engine/core.ts'
import { LiveBoard } from '../engine/live-board.ts'
import { EngineLoop } from '../engine/loop.ts'
import { Recovering } from '../engine/recover.ts'
import type { Now } from '../engine/state.ts'
import { selfSign } from '../listeners/certificate.ts'
import { Listeners } from '../listeners/listeners.ts'
import { openMemoryBlobs } from '../outputs/artifacts/memory/memory-blobs.ts'
import type { Blobs } from '../outputs/artifacts/port.ts'
import { openMemoryStreams } from '../outputs/memory/memory-streams.ts'
import type { OutputListener, Streams } from '../outputs/port.ts'
import { presetsOf } from '../presets/test-presets.ts'
import { Collector } from '../retention/collector.ts'
import { DEFAULT_RETENTION } from '../retention/settings.ts'
import { explainJob } from '../scheduler/explain/explain-job.ts'
import { packed } from '../scheduler/packed.ts'
import { schedulingRules } from '../scheduler/rules.ts'
import { waitCode } from '../scheduler/wait-code.ts'
import { createMemoryStore } from '../store/memory/store.ts'
import type { Store } from '../store/port.ts'
import { WebhookDispatcher } from '../webhooks/dispatcher.ts'
import { signingSecret } from '../webhooks/sign.ts'
import type { ApiContext, Vault } from './context.ts'
import { createApi, SERVER_OPTIONS } from './create-api.ts'
import { answerBrokenRequest } from './problems.ts'
import { viewJob } from './views.ts'
import { webhookKey } from './webhooks.ts'

export interface Answer {
  readonly status: number
  readonly type: string
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; a test that reads a wrong shape fails by that. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any
}

export interface CallOptions {
  readonly token?: string | null | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A hub in this process: real engine, scheduler and API on a free port, over a store and streams in memory. */
export interface TestHub {
  readonly url: string
  readonly api: FastifyInstance
  readonly engine: EngineLoop
  readonly store: Store
  readonly streams: Streams
  readonly blobs: Blobs
  readonly board: LiveBoard
  readonly admin: string
  /** Followers of output and of commits that have not let go. */
  readonly watching: () => { readonly outputs: number; readonly commits: number }
  token(role: Role, owner: string, expiresAt?: number | null): Promise<string>
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  close(): Promise<void>
}

export async function openTestHub(
  overrides: Partial<ApiContext> = {},
  checkRoom: (bytes: number) => Promise<void> = async () => {},
): Promise<TestHub> {
  const store = createMemoryStore()
  const engine = await openEngine(store)
  const { streams, outputs } = countWatchers(openMemoryStreams({ queries: store.queries }))
  const blobs = await openMemoryBlobs({
    index: store.queries,
    commit: async rows => {
      await engine.execute({ kind: 'rows', rows })
    },
    now: Date.now,
    checkRoom,
  })
  const { counted, commits } = countListeners(engine)
  const board = new LiveBoard()
  const webhooks = new WebhookDispatcher({
    engine: counted,
    queries: store.queries,
    view: row => viewJob({ engine, board, unschedulable: schedulingRules.unschedulable }, row),
    openSecret: async ({ id, owner, secret }) =>
      Buffer.from(await openVault.open(owner, webhookKey(id), secret)).toString(),
    allowedHosts: ['127.0.0.1'],
    now: Date.now,
    random: Math.random,
  })
  const listeners = testListeners()
  const gc = new Collector({
    engine,
    queries: store.queries,
    streams,
    blobs,
    now: Date.now,
    retention: DEFAULT_RETENTION,
  })
  const api = await createApi({
    engine: counted,
    gc,
    queries: store.queries,
    streams,
    blobs,
    board,
    now: Date.now,
    newId: uuidv7,
    random: randomBytes,
    vault: openVault,
    version: '0.0.0-test',
    startedAt: Date.now(),
    diskGuard: () => null,
    unschedulable: schedulingRules.unschedulable,
    explain: (state, job) => explainJob(state, packed, job, testNow()),
    isStopping: () => false,
    metrics: [],
    waitCode,
    dataSizes: async () => ({ freeBytes: 1e12, parts: { database: 4096 } }),
    webhooks: {
      newSecret: () => signingSecret(randomBytes(24)),
      refusal: url => webhooks.refusal(url),
      ping: webhook => webhooks.ping(webhook, uuidv7()),
    },
    listeners,
    workerBundle: async () => null,
    presets: noPresets,
    warmthOf: () => ({ live: 0, lastError: null, nextStartAt: null }),
    ...overrides,
  })
  let own = commits()
  await api.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`
  const reception = { options: SERVER_OPTIONS, request: api.routing, broken: answerBrokenRequest, attach: () => {} }
  await listeners.start(reception, url, [])
  const token = async (role: Role, owner: string, expiresAt: number | null = null): Promise<string> => {
    const secret = `stk_${randomBytes(32).toString('base64url')}`
    await engine.execute({ kind: 'addToken', id: uuidv7(), hash: sha256(secret), role, owner, label: '', expiresAt })
    return secret
  }
  const admin = await token('admin', 'ada')
  return {
    url,
    api,
    engine,
    store,
    streams,
    blobs,
    board,
    admin,
    watching: () => ({ outputs: outputs(), commits: commits() - own }),
    token,
    call: (method, path, options = {}) => call(url, admin, method, path, options),
    close: async () => {
      await webhooks.close()
      await api.close()
      await listeners.closeAll()
      own = 0
      await streams.close()
      await store.close()
    },
  }
}

export const noPresets = presetsOf({})

/** Values are only told from their sealed form here; the real vault has its own test. */
const openVault: Vault = {
  seal: async (_owner, _name, value) => `sealed ${Buffer.from(value).toString('base64')}`,
  open: async (_owner, _name, sealed) => Buffer.from(sealed.split(' ')[1] ?? '', 'base64'),
  addKey: async () => 'k2',
  dropOldKeys: async () => {},
}

/** The real thing, which remembers only as long as the test. */
function testListeners(): Listeners {
  let kept: readonly string[] = []
  const remembered = {
    read: async () => kept,
    write: async (urls: readonly string[]) => {
      kept = urls
    },
  }
  return new Listeners({ certificate: () => selfSign(Date.now()), insecure: false, remembered, log: () => {} })
}

const testNow = (): Now => ({ wall: Date.now(), lease: performance.now() })

async function openEngine(store: Store): Promise<EngineLoop> {
  const recovering = new Recovering()
  const state = recovering.finish(await store.recover(recovering.visit), testNow())
  const core = new Core(state, packed, schedulingRules)
  core.record({ c: 'epoch', epoch: state.epoch + 1, at: Date.now() })
  return new EngineLoop(core, {
    journal: store,
    now: testNow,
    soon: run => void setImmediate(run),
    isDiskFull: () => false,
    openReserve: async () => false,
    recover: () => Promise.reject(new Error('a store in memory never fills up')),
    broken: error => {
      throw error
    },
  })
}

async function call(url: string, admin: string, method: string, path: string, options: CallOptions): Promise<Answer> {
  const token = options.token === undefined ? admin : options.token
  const reply = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined
      ? {}
      : { body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) }),
  })
  const text = await reply.text()
  const type = reply.headers.get('content-type') ?? ''
  return {
    status: reply.status,
    type,
    headers: reply.headers,
    text,
    json: /json/.test(type) && text !== '' ? JSON.parse(text) : null,
  }
}

function countWatchers(inner: Streams): { streams: Streams; outputs: () => number } {
  let n = 0
  const watch = (fence: Parameters<Streams['watch']>[0], listener: OutputListener): (() => void) => {
    n += 1
    const stop = inner.watch(fence, listener)
    let isStopped = false
    return () => {
      stop()
      if (!isStopped) n -= 1
      isStopped = true
    }
  }
  const streams: Streams = {
    append: chunks => inner.append(chunks),
    committed: rows => inner.committed(rows),
    read: (fence, from, options) => inner.read(fence, from, options),
    seekTail: (fence, lines, stream) => inner.seekTail(fence, lines, stream),
    seekTime: (fence, at) => inner.seekTime(fence, at),
    sizes: fence => inner.sizes(fence),
    watch,
    ended: fence => inner.ended(fence),
    sweep: () => inner.sweep(),
    forget: commit => inner.forget(commit),
    close: () => inner.close(),
  }
  return { streams, outputs: () => n }
}

function countListeners(engine: EngineLoop): { counted: ApiContext['engine']; commits: () => number } {
  let n = 0
  return {
    commits: () => n,
    counted: {
      execute: command => engine.execute(command),
      read: look => engine.read(look),
      onCommit: listener => {
        n += 1
        const stop = engine.onCommit(listener)
        return () => {
          n -= 1
          stop()
        }
      },
    },
  }
}
