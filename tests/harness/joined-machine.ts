import type { ChildProgram } from './child-program.ts'
import type { House } from './house.ts'
import type { Inside } from './network.ts'
import { processesWith } from './processes.ts'

/** A machine on which a person pastes the line of `stoker join`; what it installs goes below its home in the house. */
export class JoinedMachine {
  readonly home: string
  readonly #house: House
  readonly #inside: Inside

  constructor(house: House, name: string, inside: Inside) {
    this.#house = house
    this.#inside = inside
    this.home = house.path(name)
  }

  /** Pastes the line; `args` go to the worker. */
  paste(line: string, args: readonly string[] = []): ChildProgram {
    const whole = args.length === 0 ? line : `${line} -s -- ${args.join(' ')}`
    const env = { STOKER_HOME: this.home, STOKER_URL: '', STOKER_TOKEN: '' }
    return this.#house.program({
      interpreter: '/bin/dash',
      nodeArgs: ['-c'],
      script: whole,
      args: [],
      env,
      inside: this.#inside,
    })
  }

  /** The worker itself, without the shells and the supervisor around it. */
  async workerPid(): Promise<number | null> {
    const found = (await processesWith(`${this.home}/app`)).find(({ command }) => command.includes('worker.js --hub'))
    return found?.pid ?? null
  }

  /** As Ctrl-C would. */
  async stop(pasted: ChildProgram): Promise<void> {
    const pid = await this.workerPid()
    if (pid !== null) process.kill(pid, 'SIGTERM')
    await pasted.exited
  }
}
