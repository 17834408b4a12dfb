import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Refused } from '@stoker/protocol'
import Fastify, { type FastifyInstance } from 'fastify'
import { uuidv7 } from 'uuidv7'
import { type Answer, type CallOptions, openTestHub, type TestHub } from '../../../api/test-hub.ts'
import { HARDWARE, TestWorker } from '../../../api/test-worker.ts'
import { consumerContext } from '../../../qubix-consumer.ts'
import { withPastedPaths } from '../../../serving/dialect-caller.ts'
import { Doorkeeper, ORDINARY_LIMITS } from '../../../serving/rate-limit.ts'
import { routeUpgrades } from '../../../serving/upgrades.ts'
import { sendError } from './answer-error.ts'
import { addConsumerRoutes } from './consumer-routes.ts'
import type { ConsumerContext } from './context.ts'
import type { Viewers } from './live/viewers.ts'

/** The customers' routes on a port of their own, before a hub in this process. */
export interface TestConsumer {
  readonly hub: TestHub
  readonly url: string
  readonly service: FastifyInstance
  readonly viewers: Viewers
  /** Bugs that were met while answering. */
  readonly faults: unknown[]
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  close(): Promise<void>
}

export async function openTestConsumer(over: Partial<ConsumerContext> = {}): Promise<TestConsumer> {
  const hub = await openTestHub()
  const faults: unknown[] = []
  const { engine, streams, blobs, board, store } = hub
  const context = consumerContext({
    engine,
    streams,
    blobs,
    board,
    queries: store.queries,
    door: new Doorkeeper(ORDINARY_LIMITS, Date.now),
    now: Date.now,
    newId: uuidv7,
    diskGuard: () => null,
    isStopping: () => false,
    isOpen: false,
    programs: { check: spec => ({ spec }) },
    log: (_level, text) => faults.push(text),
    ...over,
  })
  const service = Fastify({
    logger: false,
    routerOptions: { maxParamLength: 2400 },
    forceCloseConnections: true,
    frameworkErrors: (error, _request, reply) => sendError(reply, error),
    serverFactory: handler => createServer(withPastedPaths(handler as RequestListener)),
  })
  service.setNotFoundHandler((_request, reply) => sendError(reply, new Refused('route.not_found', 'no such route')))
  const viewers = addConsumerRoutes(service, { ...context, ...over }, { lookMs: 20 })
  routeUpgrades(service.server as Server, [
    { prefix: '/qubix', take: viewers.upgrade },
    { prefix: '', take: viewers.upgrade },
  ])
  await service.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(service.server.address() as AddressInfo).port}`
  return {
    hub,
    url,
    service,
    viewers,
    faults,
    call: (method, path, options) => call(url, hub.admin, method, path, options),
    close: async () => {
      await service.close()
      await hub.close()
    },
  }
}

async function call(url: string, admin: string, method: string, path: string, options: CallOptions = {}) {
  const { token = admin, body, headers } = options
  const reply = await fetch(url + path, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
  })
  const text = await reply.text()
  const type = reply.headers.get('content-type') ?? ''
  return { status: reply.status, type, headers: reply.headers, text, json: /json/.test(type) ? JSON.parse(text) : null }
}

function isRaw(body: unknown): body is string | FormData {
  return typeof body === 'string' || body instanceof FormData
}

interface ProviderFacts {
  readonly name?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly gpus?: readonly { readonly model: string; readonly vramGb: number }[] | undefined
  readonly ramGb?: number | undefined
}

/** A worker of ours that brings all programs of this dialect. */
export function joinProvider(hub: TestHub, { name = 'bench', tags = [], gpus = [], ramGb = 64 }: ProviderFacts = {}) {
  const ready = { state: 'ready', reason: null } as const
  const types = ['mnist_training', 'training', 'fine-tuning', 'inference', 'compute', 'stable_diffusion']
  return TestWorker.join(hub, {
    name,
    tags: [...tags],
    maxJobs: 64,
    window: 64,
    cpus: 64,
    memoryBytes: ramGb * 1e9,
    hardware: {
      ...HARDWARE,
      pythons: [{ path: '/usr/bin/python3', version: '3.11', prefix: '/usr' }],
      gpus: gpus.map(({ model, vramGb }, index) => ({
        index,
        uuid: `${name}-${index}`,
        name: model,
        memoryMb: vramGb * 1024,
        driver: null,
        simulated: false,
      })),
    },
    abilities: {
      executors: ['inline', 'process'],
      sandbox: true,
      unsandboxed: true,
      internet: true,
      hostNetwork: true,
      note: null,
      types: Object.fromEntries(types.map(type => [type, ready])),
    },
  })
}
