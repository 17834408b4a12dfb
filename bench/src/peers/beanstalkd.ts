import { fileURLToPath } from 'node:url'
import type { NotMeasured } from '../goals/goals.ts'
import type { Ground, Stage } from '../measures/ground.ts'
import { startChild } from '../processes/child.ts'
import { findProgram } from '../processes/find-program.ts'
import { startBeanstalkd } from '../servers/beanstalkd.ts'
import { untilDone } from '../until-done.ts'
import { BeanstalkConnection } from './beanstalk-connection.ts'

const WORKER = fileURLToPath(new URL('./beanstalkd-worker.ts', import.meta.url))

/** The peer as its users meet it: jobs put over one connection, taken by a worker process over several. */
export class BeanstalkPeer {
  readonly #stage: Stage
  readonly #port: number
  readonly #jobs: BeanstalkConnection
  readonly #stamps: BeanstalkConnection

  private constructor(stage: Stage, port: number, jobs: BeanstalkConnection, stamps: BeanstalkConnection) {
    this.#stage = stage
    this.#port = port
    this.#jobs = jobs
    this.#stamps = stamps
  }

  static async open(stage: Stage, { path }: Ground): Promise<BeanstalkPeer | NotMeasured> {
    const command = findProgram('beanstalkd', path)
    if (command === null) return { notMeasured: 'beanstalkd is not installed' }
    const { port } = await stage.keep(startBeanstalkd(command, stage.folder('b')))
    const [jobs, stamps] = await Promise.all([BeanstalkConnection.open(port), BeanstalkConnection.open(port)])
    stage.atEnd(async () => void (await Promise.all([jobs.close(), stamps.close()])))
    await stamps.send('WATCHING', 'watch stamps')
    await stamps.send('WATCHING', 'ignore default')
    return new BeanstalkPeer(stage, port, jobs, stamps)
  }

  submit(): Promise<string> {
    return this.#jobs.put('{}')
  }

  async startWorker(atOnce: number, what: 'noop' | 'spawn' | 'stamp'): Promise<void> {
    const args = ['--import', 'tsx', WORKER, String(this.#port), String(atOnce), what]
    const name = 'the beanstalkd worker'
    await this.#stage.keep(startChild({ name, command: process.execPath, args, ready: /^ready$/ }))
  }

  /** Jobs per second from the first submit until none is left: this peer forgets what is deleted. */
  async rateOf(jobs: number): Promise<number> {
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: jobs }, () => this.submit()))
    await untilDone('jobs of beanstalkd', jobs, async () => {
      const { body } = await this.#jobs.send('OK', 'stats-tube default')
      const left = body.matchAll(/^current-jobs-(?:ready|reserved): (\d+)$/gm)
      return [...left].reduce((done, [, count]) => done - Number(count), jobs)
    })
    return (jobs * 1000) / (performance.now() - startedAt)
  }

  /** When the worker took each of so many jobs, in milliseconds of the wall clock. */
  async startedAt(jobs: number): Promise<ReadonlyMap<string, number>> {
    const startedAt = new Map<string, number>()
    while (startedAt.size < jobs) {
      const { words, body } = await this.#stamps.send('RESERVED', 'reserve')
      const [id = '', at] = body.split(' ')
      startedAt.set(id, Number(at))
      await this.#stamps.send('DELETED', `delete ${words[1]}`)
    }
    return startedAt
  }
}
