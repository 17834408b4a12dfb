import { fileURLToPath } from 'node:url'
import PgBoss from 'pg-boss'
import type { NotMeasured } from '../goals/goals.ts'
import type { Ground, Stage } from '../measures/ground.ts'
import { startChild } from '../processes/child.ts'
import { submitInBatches } from '../submit-in-batches.ts'
import { untilDone } from '../until-done.ts'

const WORKER = fileURLToPath(new URL('./pg-boss-worker.ts', import.meta.url))

/** The peer as its users meet it: jobs sent from this process, worked on by another. */
export class PgBossPeer {
  readonly #stage: Stage
  readonly #boss: PgBoss
  readonly #url: string
  readonly #queue: string

  private constructor(stage: Stage, boss: PgBoss, url: string, queue: string) {
    this.#stage = stage
    this.#boss = boss
    this.#url = url
    this.#queue = queue
  }

  static async open(stage: Stage, { postgres }: Ground, queue: string): Promise<PgBossPeer | NotMeasured> {
    if ('notMeasured' in postgres) return postgres
    const boss = new PgBoss({ connectionString: postgres.url, supervise: false, schedule: false })
    boss.on('error', error => void process.stderr.write(`pg-boss: ${error.message}\n`))
    await boss.start()
    stage.atEnd(() => boss.stop({ graceful: false }))
    await boss.createQueue(queue)
    return new PgBossPeer(stage, boss, postgres.url, queue)
  }

  async submit(): Promise<string> {
    return (await this.#boss.send(this.#queue, {})) ?? ''
  }

  submitMany(count: number): Promise<unknown> {
    return this.#boss.insert(Array.from({ length: count }, () => ({ name: this.#queue, data: {} })))
  }

  async startWorker(atOnce: number, what: 'noop' | 'spawn' | 'stamp'): Promise<void> {
    const args = ['--import', 'tsx', WORKER, this.#url, this.#queue, String(atOnce), what]
    const name = 'the pg-boss worker'
    await this.#stage.keep(startChild({ name, command: process.execPath, args, ready: /^ready$/ }))
  }

  /** Jobs per second from the first submit until the last is done. */
  async rateOf(jobs: number): Promise<number> {
    const startedAt = performance.now()
    await submitInBatches(jobs, count => this.submitMany(count))
    await this.#allDone(jobs)
    return (jobs * 1000) / (performance.now() - startedAt)
  }

  /** When the worker took each of these jobs, in milliseconds of the wall clock. */
  async startedAt(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    await this.#allDone(ids.length)
    const jobs = await Promise.all(ids.map(id => this.#boss.getJobById<object>(this.#queue, id)))
    return new Map(jobs.map(job => [job?.id ?? '', Number(Object(job?.output).at)]))
  }

  #allDone(jobs: number): Promise<void> {
    const left = () => this.#boss.getQueueSize(this.#queue, { before: 'completed' })
    return untilDone('jobs of pg-boss', jobs, async () => jobs - (await left()))
  }
}
