import { type IdempotencyRow, Refused } from '@stoker/protocol'
import type { Command, Facts, Replies, ReplyTo } from './commands.ts'
import { NO_FACTS } from './commands.ts'
import type { Batch, Core } from './core.ts'
import { type KeyRead, RecentKeys } from './recent-keys.ts'
import type { Now, State } from './state.ts'

/** The store as the loop needs it. */
interface Journal {
  append(commit: Batch['commit']): Promise<void>
  journalEnd(): Promise<{ readonly n: number; readonly hash: string }>
  idempotency(owner: string, key: string): Promise<IdempotencyRow | null>
}

export interface LoopPorts {
  readonly journal: Journal
  readonly now: () => Now
  /** Runs the function once all input of this moment has been read, so that one commit takes it all. */
  readonly soon: (run: () => void) => void
  /** True if the rejection means that nothing was written for lack of space. */
  readonly isDiskFull: (error: unknown) => boolean
  /** Frees the reserve so that running work can still end; false if it is gone already. */
  readonly openReserve: () => Promise<boolean>
  /** Rebuilds the core from the store, after a commit that did not happen. */
  readonly recover: () => Promise<Core>
  /** A commit whose outcome cannot be known: the process must end. */
  readonly broken: (error: unknown) => void
}

interface Pending {
  readonly command: Command
  readonly facts: Facts
  readonly keyRead: KeyRead | null
  readonly resolve: (reply: never) => void
  readonly reject: (error: unknown) => void
}

/** The loop: commands of one moment share one batch; the batch is durable before anyone hears of it. */
export class EngineLoop {
  #core: Core
  readonly #ports: LoopPorts
  readonly #listeners = new Set<(batch: Batch) => void>()
  readonly #keys = new RecentKeys()
  #pending: Pending[] = []
  #readers: { readonly read: (state: State) => void; readonly reject: (error: unknown) => void }[] = []
  #scheduled = false
  #busy = false
  #broken: unknown = null

  constructor(core: Core, ports: LoopPorts) {
    this.#core = core
    this.#ports = ports
  }

  /** Resolves after the command's changes are durable; rejects with Refused if it was not allowed. */
  async execute<C extends Command>(command: C): Promise<ReplyTo<C>> {
    const keyRead = command.kind === 'submit' && command.key !== null ? this.#keys.beginRead() : null
    const facts = await this.#facts(command, keyRead)
    return new Promise<ReplyTo<C>>((resolve, reject) => {
      this.#pending.push({ command, facts, keyRead, resolve: resolve as (reply: never) => void, reject })
      this.#schedule()
    })
  }

  /** Live state as it is durable: waits for the batch it would otherwise see too early. */
  read<T>(look: (state: State) => T): Promise<T> {
    if (this.#broken !== null) return Promise.reject(this.#broken)
    if (!this.#busy) return Promise.resolve(look(this.#core.state))
    return new Promise((resolve, reject) => {
      this.#readers.push({ read: state => resolve(look(state)), reject })
    })
  }

  /** For what is no change: liveness, live figures. Never journaled, never waited for. */
  touch(poke: (state: State, now: Now) => void): void {
    poke(this.#core.state, this.#ports.now())
  }

  /** A worker came or went: something may be placed now. */
  replan(): void {
    this.#schedule()
  }

  onCommit(listener: (batch: Batch) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #schedule(): void {
    if (this.#scheduled || this.#busy) return
    this.#scheduled = true
    this.#ports.soon(() => {
      this.#scheduled = false
      void this.#turn()
    })
  }

  async #turn(): Promise<void> {
    if (this.#busy || this.#broken !== null) return
    this.#busy = true
    const taken = this.#pending
    this.#pending = []
    try {
      await this.#commit(taken)
    } catch (error) {
      this.#break(error, taken)
    } finally {
      this.#busy = false
    }
    if (this.#broken !== null) return
    this.#answerReaders()
    if (this.#pending.length > 0) this.#schedule()
  }

  async #commit(taken: readonly Pending[]): Promise<void> {
    const now = this.#ports.now()
    const answers = taken.map(pending => this.#decide(pending, now))
    const batch = this.#core.finish(now)
    if (batch === null) {
      this.#written(taken)
      return settle(answers)
    }
    try {
      await this.#ports.journal.append(batch.commit)
    } catch (error) {
      if (!(await this.#survived(batch, taken, error))) return
    }
    this.#written(taken)
    settle(answers)
    for (const listener of this.#listeners) listener(batch)
  }

  #decide(pending: Pending, now: Now): () => void {
    try {
      const reply = this.#core.execute(pending.command, this.#freshFacts(pending), now)
      this.#rememberKey(pending.command, reply, now)
      return () => pending.resolve(reply as never)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return () => pending.reject(error)
    }
  }

  /** Whether the batch is durable after all. If it is known not to be, memory is rebuilt and only what ends work is tried again. */
  async #survived(batch: Batch, taken: readonly Pending[], error: unknown): Promise<boolean> {
    if (!this.#ports.isDiskFull(error)) {
      const end = await this.#ports.journal.journalEnd()
      if (batch.commit.journal !== null && end.hash === batch.commit.journal.hash) return true
      throw error
    }
    this.#core = await this.#ports.recover()
    this.#keys.dropped()
    const reserve = await this.#ports.openReserve()
    for (const pending of taken) {
      if (reserve && pending.command.kind !== 'submit') this.#pending.push(pending)
      else pending.reject(new Refused('disk.full', 'the disk of the hub is full; nothing was written'))
    }
    return false
  }

  async #facts(command: Command, keyRead: KeyRead | null): Promise<Facts> {
    if (command.kind !== 'submit' || command.key === null) return NO_FACTS
    try {
      return { idempotency: await this.#ports.journal.idempotency(command.owner, command.key.key) }
    } catch (error) {
      if (keyRead !== null) this.#keys.endRead(keyRead)
      throw error
    }
  }

  #rememberKey(command: Command, reply: unknown, now: Now): void {
    if (command.kind !== 'submit' || command.key === null) return
    const { firstSeq, count, repeated } = reply as Replies['submit']
    if (!repeated) this.#keys.remember({ owner: command.owner, ...command.key, firstSeq, count, at: now.wall })
  }

  #written(taken: readonly Pending[]): void {
    for (const { keyRead } of taken) if (keyRead !== null) this.#keys.endRead(keyRead)
    this.#keys.written()
  }

  /** The store was asked before the batch in which a submit with the same key may have been taken: that one must be seen. */
  #freshFacts({ command, facts }: Pending): Facts {
    if (command.kind !== 'submit' || command.key === null || facts.idempotency !== null) return facts
    return { idempotency: this.#keys.find(command.owner, command.key.key) }
  }

  #answerReaders(): void {
    const readers = this.#readers
    this.#readers = []
    for (const { read } of readers) read(this.#core.state)
  }

  #break(error: unknown, taken: readonly Pending[]): void {
    this.#broken = error
    for (const { reject } of [...taken, ...this.#pending]) reject(error)
    for (const { reject } of this.#readers) reject(error)
    this.#ports.broken(error)
  }
}

function settle(answers: readonly (() => void)[]): void {
  for (const answer of answers) answer()
}
