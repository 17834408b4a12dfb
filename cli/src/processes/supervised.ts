import { setTimeout as sleep } from 'node:timers/promises'
import { nextDelayMs } from '@stoker/net'
import type { Program } from './program.ts'

export interface SupervisedOptions {
  /** Called for the first start and every one after it. */
  readonly start: () => Promise<Program>
  readonly onReady: (ready: Readonly<Record<string, unknown>>) => void
  readonly onDeath: (how: string, restartInMs: number) => void
  readonly now: () => number
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number } | undefined
  readonly random?: (() => number) | undefined
}

const BACKOFF = { baseMs: 500, maxMs: 15_000 }
/** A program that lived this long is healthy again: the next death starts the backoff anew. */
const HEALTHY_MS = 30_000

/**
 * Keeps one program running: starting → ready → died → (backoff) → starting, until stopped.
 * A program that ends before it was ever ready is not restarted: it has said what is wrong.
 */
export class Supervised {
  readonly #options: SupervisedOptions
  readonly #stopping = new AbortController()
  #program: Program | null = null
  #running: Promise<void> = Promise.resolve()

  constructor(options: SupervisedOptions) {
    this.#options = options
  }

  /** Waits for the first readiness; afterwards the program is watched in the background. */
  async start(): Promise<void> {
    this.#program = await this.#options.start()
    if (this.#stopping.signal.aborted) this.#program.kill('SIGTERM')
    this.#options.onReady(await this.#program.ready)
    this.#running = this.#watch(this.#program)
  }

  /** Asks it to end, again with each call; the promise settles when it has. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#program?.kill('SIGTERM')
    await this.#program?.ended
    await this.#running
  }

  async #watch(first: Program): Promise<void> {
    const { start, onReady, onDeath, now, backoff = BACKOFF, random = Math.random } = this.#options
    for (let program = first, attempt = 0, since = now(); ; attempt += 1) {
      const { code, signal } = await program.ended
      if (this.#stopping.signal.aborted) return
      if (now() - since > HEALTHY_MS) attempt = 0
      const delayMs = nextDelayMs({ ...backoff, attempt, random })
      onDeath(signal === null ? `it ended with code ${code}` : `it was killed by ${signal}`, delayMs)
      await sleep(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
      if (this.#stopping.signal.aborted) return
      since = now()
      program = await start()
      this.#program = program
      if (this.#stopping.signal.aborted) program.kill('SIGTERM')
      await program.ready.then(onReady, () => {})
    }
  }
}
