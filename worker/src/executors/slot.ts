import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readExitRecord } from './exit-record.ts'
import type { HeldAttempt, KeeperMessage, KeeperOrder, KeeperRequest, SweptAttempt } from './keeper-wire.ts'
import { KeptExecution } from './kept-execution.ts'
import { type LineChannel, openChannel } from './line-channel.ts'
import { outputSizes } from './output-files.ts'
import type { Exit } from './port.ts'
import type { Zygote } from './zygote.ts'

/** A living keeper says hello in under a millisecond; one that is stopped or stuck never does. */
const HELLO_MS = 10_000
/** A keeper that is just leaving still counts as present for the zygote: one of these tries meets its successor. */
const OPEN_TRIES = 50

/**
 * One place for one attempt.
 * vacant (no keeper) -open-> free (keeper connected) -launch, adopt-> holding -release-> free;
 * from anywhere: the keeper's connection ends -> vacant, and what it held is swept.
 */
export class Slot {
  readonly number: number
  readonly #folder: string
  readonly #zygote: Zygote
  #channel: LineChannel<KeeperRequest> | null = null
  #execution: KeptExecution | null = null
  #answer: ((message: KeeperMessage) => void) | null = null
  /** The keeper still keeps a result that was taken: the next order tells it so. */
  #isTaken = false
  #sweeping: Promise<void> | null = null
  #leaving = false

  constructor(number: number, folder: string, zygote: Zygote) {
    this.number = number
    this.#folder = folder
    this.#zygote = zygote
  }

  get socketPath(): string {
    return join(this.#folder, `k${this.number}.sock`)
  }

  async launch(order: KeeperOrder, onReleased: () => void): Promise<KeptExecution> {
    if (this.#channel === null) await this.#open()
    this.#isTaken = false
    return this.#ask({ op: 'start', order }, message => this.#begin(message, order, onReleased))
  }

  /** Takes over what an earlier worker's keeper holds, or what is left of it; null when the slot holds nothing. */
  async adopt(onReleased: () => void): Promise<KeptExecution | null> {
    const adopted = await this.#connect(held => held && this.#hold(held, held, onReleased))
    if (adopted !== 'nobody') return adopted
    const swept = await this.#zygote.sweep(this.number, 'force')
    if (swept !== null) return this.#holdSwept(swept, onReleased)
    await this.#forget()
    return null
  }

  /** On `quit` nothing of the slot's attempt is left once this resolves. */
  async close(op: 'detach' | 'quit'): Promise<void> {
    this.#leaving = true
    if (this.#isTaken) this.#send({ op: 'release' })
    this.#send({ op })
    if (op === 'quit' && this.#channel !== null) await this.#execution?.ended
    await this.#sweeping
    await this.#channel?.close()
  }

  async #open(): Promise<void> {
    for (let left = OPEN_TRIES; left > 0; left--) {
      await this.#zygote.keeper(this.number)
      const held = await this.#connect(held => held)
      if (held === null) return
      if (held !== 'nobody') throw new Error(`slot ${this.number} should be free, its keeper holds ${held.key}`)
    }
    throw new Error(`slot ${this.number} has a keeper, nobody listens on ${this.socketPath}`)
  }

  /** What the keeper holds is taken while its hello is heard, because what follows may already be in the same packet. */
  async #connect<T>(take: (held: HeldAttempt | null) => T): Promise<T | 'nobody'> {
    let greet: (taken: T | 'nobody') => void = () => {}
    const greeted = new Promise<T | 'nobody'>(resolve => {
      greet = resolve
    })
    this.#answer = message => greet(message.event === 'hello' ? take(message.holds) : 'nobody')
    const channel = await openChannel<KeeperRequest, KeeperMessage>(this.socketPath, {
      onMessage: message => this.#hear(message),
      onClose: () => this.#onClose(channel),
    })
    this.#channel = channel
    if (channel === null) return 'nobody'
    const late = setTimeout(() => channel.drop(), HELLO_MS)
    return greeted.finally(() => clearTimeout(late))
  }

  /** Taken while heard, like the hello. */
  #ask<T>(request: KeeperRequest, take: (message: KeeperMessage) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#answer = message => {
        try {
          resolve(take(message))
        } catch (error) {
          reject(error)
        }
      }
      this.#send(request)
    })
  }

  #begin(message: KeeperMessage, order: KeeperOrder, onReleased: () => void): KeptExecution {
    if (message.event === 'started')
      return this.#hold({ ...message, exit: null, sizes: NOTHING, lines: 0 }, order, onReleased)
    if (message.event !== 'ended')
      throw new Error(`slot ${this.number} did not start ${order.key}: ${describe(message)}`)
    const { exit, sizes } = message
    return this.#hold({ pid: 0, startedAtMs: exit.startedAtMs, exit, sizes, lines: exit.lines ?? 0 }, order, onReleased)
  }

  #hear(message: KeeperMessage): void {
    const answer = TOLD_UNASKED.has(message.event) ? null : this.#answer
    if (answer !== null) this.#answer = null
    if (answer === null) this.#execution?.hear(message)
    else answer(message)
  }

  #onClose(channel: LineChannel<KeeperRequest> | null): void {
    if (this.#channel !== channel) return
    this.#channel = null
    this.#answer?.({ event: 'refused', why: 'its keeper ended' })
    this.#answer = null
    const execution = this.#execution
    execution?.forgetUsage()
    if (execution === null || execution.hasEnded || this.#leaving) return
    this.#sweeping = this.#sweep(execution)
  }

  /** Only a keeper that is really gone is swept: a connection also ends when another worker has taken the keeper over. */
  async #sweep(execution: KeptExecution): Promise<void> {
    const swept = await this.#zygote.sweep(this.number, 'sweep')
    if (swept?.key !== execution.key) return
    execution.hear({ event: 'ended', sizes: await outputSizes(swept.folder), exit: await readExit(swept) })
  }

  #send(request: KeeperRequest): boolean {
    this.#channel?.send(request)
    return this.#channel !== null
  }

  #hold(
    held: Omit<HeldAttempt, 'key' | 'folder'>,
    { key, folder }: { readonly key: string; readonly folder: string },
    onReleased: () => void,
  ): KeptExecution {
    const release = async () => {
      if (this.#execution !== execution) return
      this.#execution = null
      this.#isTaken = this.#channel !== null
      if (!this.#isTaken) await this.#forget()
      onReleased()
    }
    const execution = new KeptExecution({ key, folder, ...held }, { send: request => this.#send(request), release })
    this.#execution = execution
    return execution
  }

  async #holdSwept(swept: SweptAttempt, onReleased: () => void): Promise<KeptExecution> {
    const [sizes, exit] = [await outputSizes(swept.folder), await readExit(swept)]
    return this.#hold(
      { pid: 0, startedAtMs: swept.startedAtMs, sizes, lines: exit.lines ?? 0, exit },
      swept,
      onReleased,
    )
  }

  async #forget(): Promise<void> {
    await rm(join(this.#folder, `k${this.number}.json`), { force: true })
  }
}

const NOTHING = { stdout: 0, stderr: 0 }
/** All else answers what was asked last. */
const TOLD_UNASKED: ReadonlySet<KeeperMessage['event']> = new Set(['output', 'lines', 'usage'])

/** The keeper and the zygote both write it before anyone is told; without it nothing is known about the end. */
async function readExit({ folder, key, startedAtMs }: SweptAttempt): Promise<Exit> {
  return (await readExitRecord(folder, key)) ?? lostExit(startedAtMs)
}

function lostExit(startedAtMs: number): Exit {
  const nothing = { exitCode: null, signal: null, oom: false, stoppedBy: null, startError: null }
  const unknown = { cpuSeconds: 0, maxRssBytes: 0, droppedBytes: NOTHING, limitsBy: 'none' as const }
  return { ...nothing, ...unknown, startedAtMs, endedAtMs: Date.now(), keeperLost: true }
}

function describe(message: KeeperMessage): string {
  return message.event === 'refused' ? message.why : `the keeper answered ${message.event}`
}
