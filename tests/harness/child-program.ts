import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'

export interface Exited {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ProgramOptions {
  readonly script: string
  readonly args: readonly string[]
  readonly nodeArgs?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** What runs the script; Node unless told otherwise. */
  readonly interpreter?: string | undefined
  /** Words before all others, which start the program on another machine. */
  readonly inside?: readonly string[] | undefined
}

/** One process under test: what it said, and signals to its pid alone. */
export class ChildProgram {
  readonly pid: number
  readonly exited: Promise<Exited>
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  #stdout = ''
  #stderr = ''
  #isOver = false

  constructor({ script, args, nodeArgs = [], env = {}, interpreter = process.execPath, inside = [] }: ProgramOptions) {
    const [command = interpreter, ...words] = [...inside, interpreter, ...nodeArgs, script, ...args]
    this.#child = spawn(command, words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '', ...env },
    })
    if (this.#child.pid === undefined) throw new Error(`${script} should start, it has no pid`)
    this.pid = this.#child.pid
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
    })
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    this.exited = once(this.#child, 'close').then(([code, signal]) => {
      this.#isOver = true
      return { code, signal }
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  /** The line a hub or a worker prints once it is ready to be used. */
  async ready(): Promise<Readonly<Record<string, unknown>>> {
    while (!this.#stdout.includes('\n')) {
      await Promise.race([once(this.#child.stdout, 'data'), this.exited])
      if (this.#isOver) throw new Error(`pid ${this.pid} should become ready, it ended and said: ${this.#stderr}`)
    }
    return JSON.parse(this.#stdout.split('\n')[0] ?? '')
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.#isOver) this.#child.kill(signal)
  }

  /** Ends it without a chance to say goodbye. */
  async kill(): Promise<Exited> {
    this.signal('SIGKILL')
    return this.exited
  }

  /** Asks it to end, and waits until it has. */
  async stop(): Promise<Exited> {
    this.signal('SIGTERM')
    return this.exited
  }
}
