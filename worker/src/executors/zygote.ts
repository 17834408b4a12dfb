import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SweptAttempt, ZygoteAnswer, ZygoteRequest } from './keeper-wire.ts'
import { type LineChannel, openChannel } from './line-channel.ts'

const KEEPER = fileURLToPath(new URL('./keeper.py', import.meta.url))
/** No site packages, no user settings, no byte code written beside the source. */
const PYTHON_FLAGS = ['-E', '-s', '-S', '-B']

const TRIES = 3

/** Where a zygote lives and what it is started with. */
export interface ZygoteOptions {
  readonly runtimeDir: string
  readonly python: string
  readonly idleMs: number
  readonly toolPath: string
}

type Waiting = (answer: SweptAttempt | null | 'gone') => void

/** The only process a worker spawns; found again by its socket, so a restarted worker uses the one that is there. */
export class Zygote {
  readonly #options: ZygoteOptions
  readonly #waiting = new Map<number, Waiting>()
  #channel: Promise<LineChannel<ZygoteRequest>> | null = null
  #lastId = 0

  constructor(options: ZygoteOptions) {
    this.#options = options
  }

  /** A keeper listens on the slot's socket once this resolves. */
  async keeper(slot: number): Promise<void> {
    await this.#ask('keeper', slot)
  }

  /**
   * Nothing of the slot's attempt runs once this resolves, and its exit.json is there; null when it had none.
   * A keeper that lives is left alone, and answered with null, unless forced.
   */
  sweep(slot: number, how: 'sweep' | 'force'): Promise<SweptAttempt | null> {
    return this.#ask(how, slot)
  }

  async close(): Promise<void> {
    const channel = this.#channel
    this.#channel = null
    if (channel !== null) await (await channel).close()
  }

  /** Asked again of the next zygote when one dies over it: both requests may be repeated. */
  async #ask(op: ZygoteRequest['op'], slot: number, triesLeft = TRIES): Promise<SweptAttempt | null> {
    const channel = await this.#opened()
    const id = ++this.#lastId
    const answer = await new Promise<SweptAttempt | null | 'gone'>(resolve => {
      this.#waiting.set(id, resolve)
      channel.send({ op, slot, id })
    })
    if (answer !== 'gone') return answer
    if (triesLeft > 1) return this.#ask(op, slot, triesLeft - 1)
    throw new Error(`${TRIES} zygotes in a row ended before they answered ${op} of slot ${slot}`)
  }

  async #opened(): Promise<LineChannel<ZygoteRequest>> {
    this.#channel ??= this.#open()
    const opening = this.#channel
    try {
      return await opening
    } catch (error) {
      if (this.#channel === opening) this.#channel = null
      throw error
    }
  }

  async #open(): Promise<LineChannel<ZygoteRequest>> {
    const found = await this.#connect()
    if (found !== null) return found
    await startZygote(this.#options)
    const started = await this.#connect()
    if (started === null) throw new Error(`the zygote said it was ready, nobody listens on ${this.#socket()}`)
    return started
  }

  #socket(): string {
    return join(this.#options.runtimeDir, 'zygote.sock')
  }

  #connect(): Promise<LineChannel<ZygoteRequest> | null> {
    return openChannel<ZygoteRequest, ZygoteAnswer>(this.#socket(), {
      onMessage: ({ id, answer }) => {
        this.#waiting.get(id)?.(answer)
        this.#waiting.delete(id)
      },
      onClose: () => {
        this.#channel = null
        const unanswered = [...this.#waiting.values()]
        this.#waiting.clear()
        for (const resolve of unanswered) resolve('gone')
      },
    })
  }
}

async function startZygote({ runtimeDir, python, idleMs, toolPath }: ZygoteOptions): Promise<void> {
  const logPath = join(runtimeDir, 'keeper.log')
  const log = await open(logPath, 'w', 0o600)
  try {
    const child = spawn(python, [...PYTHON_FLAGS, KEEPER, runtimeDir, String(idleMs / 1000), toolPath], {
      detached: true,
      stdio: ['ignore', 'pipe', log.fd],
      cwd: '/',
      env: { PATH: toolPath, LANG: 'C.UTF-8' },
    })
    const outcome = await firstWord(child)
    child.unref()
    if (outcome !== null) throw new Error(`${python} ${KEEPER} ${outcome}: ${(await readFile(logPath, 'utf8')).trim()}`)
  } finally {
    await log.close()
  }
}

/** Null once the zygote is ready; else how it failed. */
async function firstWord(child: ChildProcess): Promise<string | null> {
  const ready =
    child.stdout === null ? Promise.reject(new Error('no pipe')) : once(child.stdout, 'data').then(() => null)
  const exited = once(child, 'exit').then(([code, signal]) => `ended with ${code ?? signal} before it was ready`)
  try {
    return await Promise.race([ready, exited])
  } catch (error) {
    return `did not start (${error instanceof Error ? error.message : error})`
  } finally {
    child.stdout?.destroy()
  }
}
