import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AttemptReport, EndedReport, Fence, Holding, HubMessage, WorkerMessage } from '@stoker/protocol'
import { expect, vi } from 'vitest'
import { WebSocket } from 'ws'
import { aHello } from '../../engine/test-house.ts'

import { routeUpgrades } from '../../serving/upgrades.ts'

import type { ContractWorker } from '../gateway-contract.ts'
import type { GatewayHouse, OpenGateway } from '../test-gateway-house.ts'
import { NativeGateway } from './gateway.ts'

export function opensNative(house: GatewayHouse): OpenGateway {
  const { engine, streams, blobs, board, now } = house
  const gateway = new NativeGateway({
    ...{ engine, streams, blobs, board, now, queries: house.store.queries, version: '0.0.0-test', log: () => {} },
    openSecret: () => Promise.reject(new Error('no test here has secrets')),
    insecureSecrets: false,
    deviceDifficulty: new Map(),
  })
  return { attach: server => routeUpgrades(server, [gateway.upgrades]), close: () => gateway.close() }
}

/** Answers come at once on an idle machine. */
const SOON = { interval: 2, timeout: 15_000 }

/** Our own worker, a message at a time; it has no beats, since time is the test's. */
export class TestNativeWorker implements ContractWorker {
  readonly id = randomUUID()
  readonly #secret = randomBytes(16).toString('base64url')
  readonly #house: GatewayHouse
  readonly #name: string
  readonly #jobs = new Map<string, Holding>()
  readonly #offered: string[] = []
  #socket: WebSocket | null = null
  #welcomes = 0
  #epochSeen = 0
  #isLeaving = false
  #sent = 0
  #acked = 0

  private constructor(house: GatewayHouse, name: string) {
    this.#house = house
    this.#name = name
  }

  static async join(house: GatewayHouse, name: string): Promise<TestNativeWorker> {
    const worker = new TestNativeWorker(house, name)
    await worker.#dial(await house.token('join'))
    const look = () => house.engine.read(state => state.workers.get(worker.id)?.connected)
    await vi.waitFor(async () => expect(await look()).toBe(true), SOON)
    return worker
  }

  receive(): Promise<string> {
    return vi.waitFor(() => {
      const next = this.#offered.shift()
      if (next === undefined) throw new Error('nothing was offered')
      return next
    }, SOON)
  }

  async running(job: string): Promise<void> {
    const { fence } = this.#held(job)
    this.#jobs.set(job, { fence, state: 'running', startedAt: this.#house.now() })
    await this.#report({ kind: 'running', fence, at: this.#house.now(), isolation: 'none' })
  }

  async progress(job: string, percent: number): Promise<void> {
    const progress = { percent, operation: null, metrics: {} }
    const attempts = [{ fence: this.#held(job).fence, progress, cpus: null, memoryBytes: null }]
    this.#send({ t: 'live', at: this.#house.now(), host: null, gpus: [], attempts })
  }

  succeed(job: string, result: Readonly<Record<string, string>>): Promise<void> {
    return this.#end(job, { outcome: 'completed', result, exitCode: 0 })
  }

  fail(job: string, error: string): Promise<void> {
    return this.#end(job, { outcome: 'failed', error, exitCode: 1 })
  }

  stopped(job: string): Promise<void> {
    return this.#end(job, { outcome: 'canceled', error: 'stopped' })
  }

  async vanish(): Promise<void> {
    const socket = this.#socket
    this.#socket = null
    if (socket === null) return
    socket.terminate()
    await once(socket, 'close')
    const look = () => this.#house.engine.read(state => state.workers.get(this.id)?.connected)
    await vi.waitFor(async () => expect(await look()).toBe(false), SOON)
  }

  comeBack(): Promise<void> {
    return this.#dial(null)
  }

  async leave(): Promise<void> {
    this.#isLeaving = true
    this.#send({ t: 'goodbye', reason: 'the test is over' })
  }

  async close(): Promise<void> {
    this.#socket?.terminate()
  }

  async #dial(join: string | null): Promise<void> {
    const headers = { authorization: `Bearer ${this.#secret}`, ...(join === null ? {} : { 'x-stoker-join': join }) }
    const socket = new WebSocket(`ws://127.0.0.1:${this.#house.port}/api/v1/native`, { headers })
    socket.on('message', (data: Buffer) => this.#hear(JSON.parse(data.toString())))
    socket.on('error', () => {})
    await once(socket, 'open')
    this.#socket = socket
    const before = this.#welcomes
    const holding = [...this.#jobs.values()]
    const words = { name: this.#name, maxJobs: 1, nextBatch: this.#acked + 1, epochSeen: this.#epochSeen, holding }
    this.#send(aHello(this.id, words))
    await vi.waitFor(() => expect(this.#welcomes).toBe(before + 1), SOON)
  }

  #hear(message: HubMessage): void {
    if (message.t === 'welcome') {
      this.#welcomes += 1
      this.#epochSeen = message.epoch
    } else if (message.t === 'ack') this.#acked = message.n
    else if (message.t === 'offers')
      for (const { id, fence } of message.offers) {
        if (this.#isLeaving) {
          void this.#report({ kind: 'declined', fence, at: this.#house.now(), reason: 'it leaves' })
          continue
        }
        this.#jobs.set(id, { fence, state: 'starting', startedAt: null })
        this.#offered.push(id)
      }
  }

  async #end(job: string, end: Partial<EndedReport>): Promise<void> {
    const { fence, startedAt } = this.#held(job)
    this.#jobs.set(job, { fence, state: 'ended', startedAt })
    const nothing = { exitCode: null, signal: null, error: null, note: null, result: null, usage: null }
    const at = this.#house.now()
    await this.#report({ kind: 'ended', fence, at, startedAt, outcome: 'completed', ...nothing, ...end })
  }

  /** Acknowledged when it resolves. */
  async #report(report: AttemptReport): Promise<void> {
    this.#sent += 1
    const n = this.#sent
    this.#send({ t: 'report', n, reports: [report], chunks: [] })
    await vi.waitFor(() => expect(this.#acked).toBe(n), SOON)
  }

  #held(job: string): { readonly fence: Fence; readonly startedAt: number | null } {
    const held = this.#jobs.get(job)
    if (held === undefined) throw new Error(`job ${job} was not offered here`)
    return held
  }

  #send(message: WorkerMessage): void {
    this.#socket?.send(JSON.stringify(message))
  }
}
