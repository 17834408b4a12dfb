import { fileURLToPath } from 'node:url'
import { Queue } from 'bullmq'
import { type Child, startChild } from '../processes/child.ts'
import type { Redis } from '../servers/redis.ts'
import { submitInBatches } from '../submit-in-batches.ts'
import { untilDone } from '../until-done.ts'

const WORKER = fileURLToPath(new URL('./bullmq-worker.ts', import.meta.url))

/** The peer as its users meet it: a queue in this process, a worker in another. */
export class BullPeer {
  readonly queue: Queue
  readonly #redis: Redis
  readonly #name: string

  constructor(redis: Redis, name: string) {
    this.#redis = redis
    this.#name = name
    this.queue = new Queue(name, { connection: { host: '127.0.0.1', port: redis.port } })
  }

  async submit(): Promise<unknown> {
    return this.queue.add('noop', {})
  }

  async submitMany(count: number): Promise<unknown> {
    return this.queue.addBulk(Array.from({ length: count }, () => ({ name: 'noop', data: {} })))
  }

  startWorker(concurrency: number, what: 'stamp' | 'spawn'): Promise<Child> {
    return startChild({
      name: 'the BullMQ worker',
      command: process.execPath,
      args: ['--import', 'tsx', WORKER, String(this.#redis.port), this.#name, String(concurrency), what],
      ready: /^ready$/,
    })
  }

  /** Jobs per second from the first submit until the last is done. */
  async rateOf(jobs: number): Promise<number> {
    const done = await this.queue.getCompletedCount()
    const startedAt = performance.now()
    await submitInBatches(jobs, count => this.submitMany(count))
    await untilDone('jobs of BullMQ', jobs, async () => (await this.queue.getCompletedCount()) - done)
    return (jobs * 1000) / (performance.now() - startedAt)
  }

  close(): Promise<void> {
    return this.queue.close()
  }
}
