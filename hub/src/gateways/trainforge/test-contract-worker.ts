import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'
import type { ContractWorker } from '../gateway-contract.ts'
import type { GatewayHouse } from '../test-gateway-house.ts'
import { readAttemptId } from './attempt-id.ts'
import { END, registration } from './test-nodes.ts'
import { engineId } from './worker-id.ts'

const SOON = { interval: 2, timeout: 15_000 }

/** A node with one slot and the runner of what it was given, a word at a time. */
export class TestNode implements ContractWorker {
  readonly id: string
  readonly #name: string
  readonly #house: GatewayHouse
  readonly #token: string
  readonly #projects: string
  /** Its attempts by their jobs, and how much each has printed. */
  readonly #attempts = new Map<string, string>()
  readonly #printed = new Map<string, number>()

  private constructor(house: GatewayHouse, name: string, token: string, projects: string) {
    this.id = engineId(name)
    this.#name = name
    this.#house = house
    this.#token = token
    this.#projects = projects
  }

  static async join(house: GatewayHouse, name: string, projects: string): Promise<TestNode> {
    const node = new TestNode(house, name, await house.token('worker'), projects)
    await node.#call('POST', '/api/workers/register', registration(name))
    return node
  }

  receive(): Promise<string> {
    return vi.waitFor(async () => {
      const { jobs } = await this.#call('GET', `/api/workers/jobs?worker_id=${this.#name}`)
      const [{ job_id: attempt }] = jobs
      const job = readAttemptId(attempt)?.job ?? ''
      this.#attempts.set(job, attempt)
      return job
    }, SOON)
  }

  async running(job: string): Promise<void> {
    await this.#run(job, 'start', {})
    await this.#say(job, 'running')
    await this.progress(job, 1)
  }

  progress(job: string, percent: number): Promise<void> {
    return this.#print(job, 'stdout', { event: 'progress', percent })
  }

  async succeed(job: string, result: Readonly<Record<string, string>>): Promise<void> {
    await this.#print(job, 'stdout', { event: 'finish', status: 'completed', result })
    await this.#run(job, 'end', END)
    await this.#say(job, 'completed', { exit_codes: [0], duration: 10 })
  }

  async fail(job: string, error: string): Promise<void> {
    await this.#print(job, 'stderr', error)
    await this.#run(job, 'end', { ...END, exit_code: 1 })
    await this.#say(job, 'failed', { exit_codes: [1], duration: 10 })
  }

  async vanish(): Promise<void> {}

  async comeBack(): Promise<void> {}

  async stopped(job: string): Promise<void> {
    await this.#run(job, 'end', { ...END, exit_code: null, signal: 'SIGTERM', ended_by: 'cancel' })
    await this.#say(job, 'failed', { exit_codes: [-15], duration: 10 })
  }

  async leave(): Promise<void> {
    for (const job of this.#attempts.keys()) await this.#say(job, 'cancelled')
    await this.#call('POST', '/api/workers/unregister', { worker_id: this.#name })
  }

  async close(): Promise<void> {}

  async #say(job: string, status: string, more: object = {}): Promise<void> {
    const body = { worker_id: this.#name, job_id: this.#attempts.get(job), status, timestamp: 1.5, ...more }
    await this.#call('POST', '/api/workers/job-status', body)
  }

  async #print(job: string, stream: 'stdout' | 'stderr', said: unknown): Promise<void> {
    const line = Buffer.from(`${typeof said === 'string' ? said : JSON.stringify(said)}\n`)
    const key = `${job} ${stream}`
    const offset = this.#printed.get(key) ?? 0
    this.#printed.set(key, offset + line.length)
    await this.#run(job, `output?stream=${stream}&offset=${offset}`, line)
  }

  /** As its runner; one whose attempt is over is told so, and says no more. */
  async #run(job: string, verb: string, body: object): Promise<void> {
    const attempt = this.#attempts.get(job) ?? ''
    const { token } = JSON.parse(await readFile(join(this.#projects, attempt, 'stoker.json'), 'utf8'))
    await this.#call('POST', `/api/attempts/${attempt}/${verb}`, body, `Bearer ${token}`)
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape come back
  async #call(method: string, path: string, body?: object, authorization?: string): Promise<any> {
    const basic = `Basic ${Buffer.from(`worker:${this.#token}`).toString('base64')}`
    const type = body instanceof Uint8Array ? 'application/octet-stream' : 'application/json'
    const reply = await fetch(this.#house.url + path, {
      method,
      headers: { authorization: authorization ?? basic, connection: 'close', 'content-type': type },
      ...(body === undefined
        ? {}
        : { body: body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body) }),
    })
    return reply.json()
  }
}
