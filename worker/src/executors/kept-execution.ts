import type { HeldAttempt, KeeperMessage, KeeperRequest } from './keeper-wire.ts'
import { LineFeed } from './line-feed.ts'
import type { Execution, Exit, LinesWritten, OutputSizes, Usage } from './port.ts'

/** What an execution needs from the slot that holds it. */
export interface Holder {
  /** False when no keeper is connected any more. */
  send(request: KeeperRequest): boolean
  release(): Promise<void>
}

/** The worker's view of one attempt a keeper holds; everything it knows came over the socket. */
export class KeptExecution implements Execution {
  readonly key: string
  readonly folder: string
  readonly pid: number
  readonly startedAtMs: number
  readonly containerId: string | null
  readonly ended: Promise<Exit>
  readonly #holder: Holder
  readonly #listeners: ((sizes: OutputSizes) => void)[] = []
  readonly #feed: LineFeed
  readonly #usages = new Map<number, (usage: Usage | null) => void>()
  #sizes: OutputSizes
  #exit: Exit | null = null
  #settle: (exit: Exit) => void = () => {}
  #lastId = 0

  constructor(held: HeldAttempt, holder: Holder) {
    this.key = held.key
    this.folder = held.folder
    this.pid = held.pid
    this.startedAtMs = held.startedAtMs
    this.containerId = held.containerId ?? held.exit?.containerId ?? null
    this.#sizes = held.sizes
    this.#holder = holder
    this.#feed = new LineFeed(held.lines, (n, line) => void holder.send({ op: 'line', n, line }))
    this.ended = new Promise(resolve => {
      this.#settle = resolve
    })
    if (held.exit !== null) this.end(held.exit)
  }

  get hasEnded(): boolean {
    return this.#exit !== null
  }

  get sizes(): OutputSizes {
    return this.#sizes
  }

  onOutput(listener: (sizes: OutputSizes) => void): void {
    this.#listeners.push(listener)
    if (this.#sizes.stdout + this.#sizes.stderr > 0) queueMicrotask(() => listener(this.#sizes))
  }

  stop(cause: 'canceled', graceMs?: number): void {
    if (!this.hasEnded) this.#holder.send({ op: 'stop', cause, graceMs: graceMs ?? null })
  }

  line(n: number, text: string): void {
    if (!this.hasEnded) this.#feed.give(n, text)
  }

  onLines(listener: (written: LinesWritten) => void): void {
    this.#feed.onWritten(listener)
  }

  endInput(graceMs: number): void {
    if (!this.hasEnded) this.#holder.send({ op: 'eof', graceMs })
  }

  heard(stdout: number): void {
    if (!this.hasEnded) this.#holder.send({ op: 'heard', stdout })
  }

  usage(): Promise<Usage | null> {
    const id = ++this.#lastId
    if (this.hasEnded || !this.#holder.send({ op: 'usage', id })) return Promise.resolve(null)
    return new Promise(resolve => this.#usages.set(id, resolve))
  }

  async release(): Promise<void> {
    if (!this.hasEnded) throw new Error(`attempt ${this.key} cannot be released: its program still runs`)
    await this.#holder.release()
  }

  hear(message: KeeperMessage): void {
    if (message.event === 'output') this.#grow(message)
    if (message.event === 'lines') this.#feed.wrote(message)
    if (message.event === 'ended') {
      this.end(message.exit)
      this.#grow(message.sizes)
    }
    if (message.event === 'usage') {
      this.#usages.get(message.id)?.(message.usage)
      this.#usages.delete(message.id)
    }
  }

  /** The first end is the end: a keeper that vanishes afterwards changes nothing. */
  end(exit: Exit): void {
    this.#exit ??= exit
    this.#settle(this.#exit)
    this.forgetUsage()
  }

  /** Nobody will answer any more. */
  forgetUsage(): void {
    for (const resolve of this.#usages.values()) resolve(null)
    this.#usages.clear()
  }

  #grow({ stdout, stderr }: OutputSizes): void {
    if (stdout === this.#sizes.stdout && stderr === this.#sizes.stderr) return
    this.#sizes = { stdout, stderr }
    for (const listener of this.#listeners) listener(this.#sizes)
  }
}
