import { fileURLToPath } from 'node:url'
import { Logger, makeWorkerUtils, type WorkerUtils } from 'graphile-worker'
import { Pool } from 'pg'
import { type Child, startChild } from '../processes/child.ts'
import type { Postgres } from '../servers/postgres.ts'
import { submitInBatches } from '../submit-in-batches.ts'
import { untilDone } from '../until-done.ts'

const RUNNER = fileURLToPath(new URL('./graphile-runner.ts', import.meta.url))

/** The peer as its users meet it: jobs added by its utilities in this process, run by a runner in another. */
export class GraphilePeer {
  readonly #pool: Pool
  readonly #utils: WorkerUtils
  readonly #url: string

  private constructor(pool: Pool, utils: WorkerUtils, url: string) {
    this.#pool = pool
    this.#utils = utils
    this.#url = url
  }

  static async open({ url }: Postgres): Promise<GraphilePeer> {
    const pool = new Pool({ connectionString: url, max: 10 })
    const broke = (error: Error) => void process.stderr.write(`a connection to PostgreSQL broke: ${error.message}\n`)
    pool.on('error', broke)
    pool.on('connect', connection => connection.on('error', broke))
    const utils = await makeWorkerUtils({ pgPool: pool, logger: new Logger(() => () => {}) })
    await utils.migrate()
    return new GraphilePeer(pool, utils, url)
  }

  async submitMany(count: number): Promise<unknown> {
    return this.#utils.addJobs(Array.from({ length: count }, () => ({ identifier: 'noop', payload: {} })))
  }

  /** What was only submitted would otherwise be run, and counted, by the next measure. */
  async clear(): Promise<void> {
    await this.#pool.query('truncate graphile_worker._private_jobs')
  }

  startRunner(): Promise<Child> {
    return startChild({
      name: 'the graphile-worker runner',
      command: process.execPath,
      args: ['--import', 'tsx', RUNNER, this.#url],
      ready: /^ready$/,
    })
  }

  /** Jobs per second from the first submit until none is left: this peer deletes what is done. */
  async rateOf(jobs: number): Promise<number> {
    const startedAt = performance.now()
    await submitInBatches(jobs, count => this.submitMany(count))
    await untilDone('jobs of graphile-worker', jobs, async () => {
      const { rows } = await this.#pool.query('select count(*)::int as left from graphile_worker._private_jobs')
      return jobs - rows[0].left
    })
    return (jobs * 1000) / (performance.now() - startedAt)
  }

  async close(): Promise<void> {
    await this.#utils.release()
    await this.#pool.end()
  }
}
