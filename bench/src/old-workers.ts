import { setMaxListeners } from 'node:events'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { rateOf } from './in-flight.ts'

const AT_ONCE = 16
const POLL_MS = 5_000
const HEARTBEAT_MS = 30_000
const USAGE = { cpuPercent: 12.5, ramPercent: 13.6, timestamp: '2026-01-15T08:00:00.123456' }

/** Workers of QUBIX as they are on the wire: each call has a connection of its own. */
export class OldWorkers {
  readonly #url: URL
  readonly #token: string
  readonly #ids: readonly string[]

  constructor(hubUrl: string, token: string, count: number) {
    this.#url = new URL(hubUrl)
    this.#token = token
    this.#ids = Array.from({ length: count }, (_, i) => (0x1000_0000_0000 + i).toString(16).padStart(16, '0'))
  }

  async register(): Promise<void> {
    const specs = { hostname: 'pc', os: 'Linux 6.1', cpu_model: 'x', cpu_cores: 8, ram_total_gb: 31.84 }
    await rateOf(this.#ids.length, AT_ONCE, async i => {
      const worker_id = this.#idOf(i)
      const body = { worker_id, name: `old-${i}`, address: 'x', pricePerHour: 5, specs: { ...specs, worker_id } }
      await this.#call('POST', '/api/providers/register', body)
      await this.heartbeat(i)
    })
  }

  heartbeat(i: number): Promise<unknown> {
    const workerId = this.#idOf(i)
    const body = { workerId, status: 'online', currentJob: null, usage: USAGE }
    return this.#call('POST', `/api/providers/${workerId}/heartbeat`, body)
  }

  /** The id of the job it was given, if any. */
  async poll(i: number): Promise<string | null> {
    const jobs = (await this.#call('GET', `/api/jobs/pending/${this.#idOf(i)}`)) as { readonly id: string }[]
    return jobs[0]?.id ?? null
  }

  progress(i: number, job: string, progress: number): Promise<unknown> {
    const body = { workerId: this.#idOf(i), progress, currentOperation: 'Training epoch 2/5', metrics: {} }
    return this.#call('POST', `/api/jobs/${job}/progress`, body)
  }

  /** All poll and beat at their own pace, evenly spread, until told to stop. */
  live(): { stop(): Promise<void> } {
    const stopped = new AbortController()
    setMaxListeners(0, stopped.signal)
    const lives = this.#ids.map((_, i) => this.#live(i, stopped.signal))
    return {
      stop: async () => {
        stopped.abort()
        await Promise.all(lives)
      },
    }
  }

  async #live(i: number, signal: AbortSignal): Promise<void> {
    const rest = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {})
    await rest((POLL_MS * i) / this.#ids.length)
    for (let polls = i; !signal.aborted; polls += 1) {
      await this.poll(i)
      if (polls % (HEARTBEAT_MS / POLL_MS) === 0) await this.heartbeat(i)
      await rest(POLL_MS)
    }
  }

  #idOf(i: number): string {
    return this.#ids[i % this.#ids.length] ?? ''
  }

  #call(method: string, path: string, body?: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const headers = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': text.length }
      const { hostname, port } = this.#url
      const sent = request(
        { hostname, port, method, path: `/qubix/t/${this.#token}${path}`, headers, agent: false },
        answer => {
          const parts: Buffer[] = []
          answer.on('data', part => parts.push(part))
          answer.on('end', () => {
            const said = Buffer.concat(parts).toString()
            if (answer.statusCode === 200) resolve(JSON.parse(said))
            else reject(new Error(`${method} ${path} should be answered 200, it was ${answer.statusCode}: ${said}`))
          })
        },
      )
      sent.on('error', reject).end(text)
    })
  }
}
