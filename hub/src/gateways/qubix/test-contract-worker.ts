import type { Log } from '@stoker/files'
import { uuidv7 } from 'uuidv7'
import { expect, vi } from 'vitest'
import { consumerContext } from '../../qubix-consumer.ts'
import { Doorkeeper, ORDINARY_LIMITS } from '../../serving/rate-limit.ts'
import type { ContractWorker } from '../gateway-contract.ts'
import type { GatewayHouse, OpenGateway } from '../test-gateway-house.ts'
import { createQubix } from './qubix.ts'

export async function opensQubix(house: GatewayHouse, isOpen = false): Promise<OpenGateway> {
  const { engine, streams, blobs, board, now, logged } = house
  const { queries } = house.store
  const door = new Doorkeeper(ORDINARY_LIMITS, now)
  const log: Log = (level, text) => void logged.push(`${level}: ${text}`)
  const context = { engine, queries, streams, blobs, board, door, now, isOpen, log, mostWorkers: 5 }
  const customers = consumerContext({
    ...context,
    ...{ newId: uuidv7, diskGuard: () => null, isStopping: () => false },
    programs: { check: spec => ({ spec }) },
  })
  return createQubix(context, customers)
}

const SOON = { interval: 2, timeout: 15_000 }

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
export type Answer = { readonly status: number; readonly json: any }

/** One call as an old worker makes it, with a token where it can carry one. */
export async function call(
  house: GatewayHouse,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const answer = await fetch(`${house.url}/t/${token}${path}`, {
    method,
    redirect: 'manual',
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: { connection: 'close', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
  })
  const text = await answer.text()
  return { status: answer.status, json: JSON.parse(text) }
}

export const SPECS = {
  hostname: 'pc1',
  os: 'Linux 6.1',
  cpu_model: 'AMD Ryzen 7',
  cpu_cores: 8,
  cpu_freq_ghz: 3.6,
  ram_total_gb: 31.84,
  ram_available_gb: 27.5,
  gpu_available: true,
  gpu_model: 'NVIDIA GeForce RTX 4090',
  gpu_vram_gb: 24.0,
  storage_total_gb: 476.32,
  storage_free_gb: 120.4,
}

export const ENHANCED_USAGE = { cpuPercent: 12.5, ramPercent: 13.6, timestamp: '2026-01-15T08:00:00.123456' }
export const SIMPLE_USAGE = { ...ENHANCED_USAGE, ramUsedGb: 4.34, ramTotalGb: 31.84 }

/** The enhanced worker, a word at a time. */
export class TestProvider implements ContractWorker {
  readonly workerId: string
  readonly token: string
  readonly #house: GatewayHouse
  id = ''

  private constructor(house: GatewayHouse, token: string, workerId: string) {
    this.#house = house
    this.token = token
    this.workerId = workerId
  }

  static async join(house: GatewayHouse, name: string): Promise<TestProvider> {
    const workerId = Buffer.from(name.padEnd(8)).toString('hex').slice(0, 16)
    const worker = new TestProvider(house, await house.token('worker'), workerId)
    await worker.register({ name })
    await worker.beat()
    return worker
  }

  async register(over: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    const answer = await this.call('POST', '/api/providers/register', {
      ...{ worker_id: this.workerId, address: 'QUBIC_X', location: 'US East (Virginia)', computePower: 1280 },
      ...{ pricePerHour: 5.0, isActive: true, specs: { worker_id: this.workerId, ...SPECS } },
      ...over,
    })
    this.id = answer.json.provider?.id ?? this.id
    return answer
  }

  beat(over: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    const body = { workerId: this.workerId, status: 'online', currentJob: null, usage: ENHANCED_USAGE, ...over }
    return this.call('POST', `/api/providers/${this.workerId}/heartbeat`, body)
  }

  poll(): Promise<Answer> {
    return this.call('GET', `/api/jobs/pending/${this.workerId}`)
  }

  report(job: string, kind: 'progress' | 'complete', body: Readonly<Record<string, unknown>>): Promise<Answer> {
    return this.call('POST', `/api/jobs/${job}/${kind}`, { workerId: this.workerId, ...body })
  }

  complete(job: string, result: unknown, over: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return this.report(job, 'complete', { status: 'completed', result, error: null, metrics: {}, ...over })
  }

  call(method: string, path: string, body?: unknown): Promise<Answer> {
    return call(this.#house, this.token, method, path, body)
  }

  receive(): Promise<string> {
    return vi.waitFor(async () => {
      const { json } = await this.poll()
      expect(json).toHaveLength(1)
      return json[0].id as string
    }, SOON)
  }

  async running(job: string): Promise<void> {
    await this.progress(job, 1)
  }

  async progress(job: string, progress: number): Promise<void> {
    await this.report(job, 'progress', { progress, currentOperation: 'at it', metrics: {} })
  }

  async succeed(job: string, result: Readonly<Record<string, string>>): Promise<void> {
    await this.complete(job, result)
  }

  async fail(job: string, error: string): Promise<void> {
    await this.report(job, 'complete', {
      status: 'failed',
      result: { error, errorDetails: 'Traceback' },
      error,
      metrics: {},
    })
  }

  stopped(job: string): Promise<void> {
    return this.fail(job, 'stopped')
  }

  /** Between two calls there is nothing that could break. */
  async vanish(): Promise<void> {}
  async comeBack(): Promise<void> {}
  async close(): Promise<void> {}

  async leave(): Promise<void> {
    await this.beat({ status: 'offline' })
  }
}
