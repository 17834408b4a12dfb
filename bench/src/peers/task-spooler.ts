import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { NotMeasured } from '../goals/goals.ts'
import { rateOf } from '../in-flight.ts'
import type { Ground, Stage } from '../measures/ground.ts'
import type { Child } from '../processes/child.ts'
import { findProgram } from '../processes/find-program.ts'
import { runCommand } from '../processes/run-command.ts'
import { startTree } from '../processes/tree.ts'
import { untilDone } from '../until-done.ts'

/** How many commands a hurried user has running at once. */
const COMMANDS_AT_ONCE = 8
/** One job that never ends holds the only slot, so that whatever comes after it waits. */
const BLOCKED = '"$1" -S 1 && "$1" -n sleep 86400 && echo ready'
const OPEN = '"$1" -S "$2" && echo ready'

/** The peer as its users meet it: one command per job; its server begins with the first of them. */
export class TaskSpooler {
  readonly #stage: Stage
  readonly #command: string
  readonly #python: string
  readonly #env: Readonly<Record<string, string>>

  private constructor(stage: Stage, command: string, python: string, env: Readonly<Record<string, string>>) {
    this.#stage = stage
    this.#command = command
    this.#python = python
    this.#env = env
  }

  static async open(stage: Stage, { path }: Ground): Promise<TaskSpooler | NotMeasured> {
    const command = findProgram('tsp', path)
    if (command === null) return { notMeasured: 'task-spooler is not installed' }
    const python = findProgram('python3', path)
    if (python === null) return { notMeasured: 'python3, which holds its server, is not installed' }
    const folder = stage.folder('t')
    await mkdir(folder)
    const env = { PATH: path, TMPDIR: folder, TS_SOCKET: join(folder, 'socket') }
    return new TaskSpooler(stage, command, python, env)
  }

  /** A server of its own for each round: it cannot hold more than a thousand waiting jobs. */
  async submitRateOf(jobs: number, inFlight: number): Promise<number> {
    const server = await this.#start(BLOCKED, [])
    try {
      return await rateOf(jobs, inFlight, () => this.submit(['/bin/true']))
    } finally {
      await server.stop()
    }
  }

  async startServer(slots: number): Promise<void> {
    await this.#stage.keep(this.#start(OPEN, [String(slots)]))
  }

  /** Answers the job's number; its output is not kept. */
  submit(program: readonly string[]): Promise<string> {
    return runCommand(this.#command, ['-n', ...program], this.#env)
  }

  /** Jobs per second from the first command until the last job is over. */
  async rateOf(jobs: number): Promise<number> {
    const startedAt = performance.now()
    await rateOf(jobs, COMMANDS_AT_ONCE, () => this.submit(['/bin/true']))
    await untilDone('jobs of task-spooler', jobs, async () => {
      const list = await runCommand(this.#command, [], this.#env)
      return jobs - (list.match(/^\d+ +(queued|running|allocating) /gm) ?? []).length
    })
    const rate = (jobs * 1000) / (performance.now() - startedAt)
    await runCommand(this.#command, ['-C'], this.#env)
    return rate
  }

  #start(script: string, args: readonly string[]): Promise<Child> {
    return startTree(this.#python, {
      name: 'the task-spooler server',
      command: '/bin/sh',
      args: ['-c', script, 'sh', this.#command, ...args],
      ready: /^ready$/,
      env: this.#env,
    })
  }
}
