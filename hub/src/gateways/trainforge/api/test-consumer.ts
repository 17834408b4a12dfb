import { mkdtemp, readdir } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { removeTree, zipOf } from '@stoker/files'
import Fastify from 'fastify'
import { uuidv7 } from 'uuidv7'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { openTestHub, type TestHub } from '../../../api/test-hub.ts'
import { schedulingRules } from '../../../scheduler/rules.ts'
import { withPastedPaths } from '../../../serving/dialect-caller.ts'
import { Doorkeeper, ORDINARY_LIMITS } from '../../../serving/rate-limit.ts'
import { answerUnknownEndpoint } from './consumer-error.ts'
import { addConsumerRoutes } from './consumer-routes.ts'
import type { ConsumerContext } from './context.ts'

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly json: any
}

export interface Consumer {
  readonly hub: TestHub
  readonly url: string
  readonly bugs: unknown[]
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  /** Uploads a project; `fields` of null leaves the form's part out. */
  push(config: unknown, zip: Uint8Array | null, options?: PushOptions): Promise<Answer>
  close(): Promise<void>
}

interface CallOptions {
  readonly token?: string | null
  readonly body?: string | FormData
  readonly headers?: Readonly<Record<string, string>>
}

interface PushOptions extends CallOptions {
  readonly path?: string
  readonly fields?: Readonly<Record<string, string>>
}

/** The routes on a service of their own, over a real engine; closing proves that no upload is left behind. */
export async function openConsumer(overrides: Partial<ConsumerContext> = {}): Promise<Consumer> {
  const hub = await openTestHub()
  const scratch = await mkdtemp(join(tmpdir(), 'stoker-consumer-'))
  const bugs: unknown[] = []
  const service = Fastify({ logger: false, bodyLimit: 64 * 1024, routerOptions: { maxParamLength: 2400 } })
  service.setNotFoundHandler(answerUnknownEndpoint)
  addConsumerRoutes(service, {
    engine: hub.engine,
    queries: hub.store.queries,
    streams: hub.streams,
    blobs: hub.blobs,
    board: hub.board,
    door: new Doorkeeper(ORDINARY_LIMITS, Date.now),
    now: Date.now,
    newId: uuidv7,
    version: '0.0.0-test',
    diskGuard: () => null,
    unschedulable: schedulingRules.unschedulableSpec,
    scratch,
    isOpen: false,
    isStopping: () => false,
    failed: error => bugs.push(error),
    ...overrides,
  })
  await service.ready()
  const server = createServer(withPastedPaths(service.routing as RequestListener))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const call = async (method: string, path: string, { token = hub.admin, body, headers }: CallOptions = {}) => {
    const own = token === null ? {} : { authorization: `Bearer ${token}` }
    const reply = await fetch(url + path, {
      method,
      headers: { ...own, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    const bytes = Buffer.from(await reply.arrayBuffer())
    const isJson = /json/.test(reply.headers.get('content-type') ?? '')
    return { status: reply.status, headers: reply.headers, bytes, json: isJson ? JSON.parse(bytes.toString()) : null }
  }
  return {
    hub,
    url,
    bugs,
    call,
    push: (config, zip, { path = '/api/jobs', fields = {}, ...options } = {}) => {
      const form = new FormData()
      if (config !== null) form.append('config', typeof config === 'string' ? config : JSON.stringify(config))
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      if (zip !== null)
        form.append('project_zip', new Blob([Buffer.from(zip)], { type: 'application/zip' }), 'project.zip')
      return call('POST', path, { ...options, body: form })
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      await service.close()
      await vi.waitFor(async () => expect(await readdir(scratch)).toEqual([]), 15_000)
      await hub.close()
      await removeTree(scratch)
      expect(bugs).toEqual([])
    },
  }
}

export const CONFIG = {
  project: { name: 'digits' },
  training: { script: 'train.py' },
  resources: { gpu: 0, cpu: 1, memory: '512Mi' },
}

/** Gives every test of a file routes and a project of its own; the job of that project is submitted when asked for. */
export function useConsumer() {
  const state: { consumer?: Consumer; zip?: Buffer } = {}
  beforeEach(async () => {
    state.consumer = await openConsumer()
    state.zip = await aZip({ 'train.py': 'print(1)', 'requirements.txt': 'six\n' })
  })
  afterEach(() => state.consumer?.close())
  const now = <K extends keyof typeof state>(name: K): NonNullable<(typeof state)[K]> => {
    const value = state[name]
    if (value === undefined) throw new Error(`the ${name} of a test is there only while it runs`)
    return value
  }
  return {
    consumer: () => now('consumer'),
    zip: () => now('zip'),
    async pushed(): Promise<string> {
      const { status, json } = await now('consumer').push(CONFIG, now('zip'))
      expect({ status, json }).toMatchObject({ status: 201 })
      return json.job_id
    },
  }
}

/** A zip with these files. */
export async function aZip(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const parts = Object.entries(files).map(([path, text]) => ({
    path,
    size: Buffer.byteLength(text),
    executable: false,
    at: Date.now(),
    open: async () => Readable.from([Buffer.from(text)]),
  }))
  return Buffer.concat(await zipOf(parts).toArray())
}
