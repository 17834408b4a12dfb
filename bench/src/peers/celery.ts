import { fileURLToPath } from 'node:url'
import type { NotMeasured } from '../goals/goals.ts'
import type { Ground, Stage } from '../measures/ground.ts'
import { startChild } from '../processes/child.ts'
import { findPrograms } from '../processes/find-program.ts'
import { runCommand } from '../processes/run-command.ts'

const PROGRAM = fileURLToPath(new URL('./celery-peer.py', import.meta.url))

/** The peer as its users meet it: driven from Python, for it has no client of its own elsewhere. */
export class CeleryPeer {
  readonly #stage: Stage
  readonly #python: string
  readonly #url: string

  private constructor(stage: Stage, python: string, url: string) {
    this.#stage = stage
    this.#python = python
    this.#url = url
  }

  static async open(stage: Stage, { path, redis }: Ground): Promise<CeleryPeer | NotMeasured> {
    if ('notMeasured' in redis) return redis
    const python = await pythonWithCelery(path)
    if (python === null) return { notMeasured: 'Celery with its Redis client is not installed' }
    const peer = new CeleryPeer(stage, python, `redis://127.0.0.1:${redis.port}`)
    await peer.#run(['forget'])
    return peer
  }

  async startWorker(threads: number): Promise<void> {
    const args = [PROGRAM, this.#url, 'worker', String(threads)]
    await this.#stage.keep(startChild({ name: 'the Celery worker', command: this.#python, args, ready: /^ready$/ }))
  }

  /** Jobs per second, so many of them unanswered at once. */
  async submitRateOf(jobs: number, inFlight: number): Promise<number> {
    return Number(await this.#run(['submit', String(jobs), String(inFlight)]))
  }

  /** Jobs per second from the first submit until the last result is kept. */
  async rateOf(jobs: number, what: 'stamp' | 'spawn'): Promise<number> {
    return Number(await this.#run(['run', what, String(jobs)]))
  }

  /** Milliseconds from each submit to its start. */
  async waits(jobs: number): Promise<number[]> {
    return (await this.#run(['waits', String(jobs)])).split(' ').map(Number)
  }

  #run(args: readonly string[]): Promise<string> {
    return runCommand(this.#python, [PROGRAM, this.#url, ...args], {})
  }
}

/** The first Python of this machine that has both; they may be Debian's, or those of a virtual environment. */
export async function pythonWithCelery(path: string): Promise<string | null> {
  for (const python of findPrograms('python3', path)) {
    const has = await runCommand(python, ['-c', 'import celery, redis'], {}).catch(() => null)
    if (has !== null) return python
  }
  return null
}
