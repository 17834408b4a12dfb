import { type IdempotencyRow, Refused } from '@stoker/protocol'
import { awaitedIds } from './awaited-ids.ts'
import { type Command, type Facts, type JobRef, NO_FACTS, type Replies, type ReplyTo, StaleFacts } from './commands.ts'
import type { Batch, Core } from './core.ts'
import { type KeyRead, RecentKeys } from './recent-keys.ts'
import type { Now, State } from './state.ts'

/** The store as the loop needs it. */
interface Journal {
  append(commit: Batch['commit']): Promise<void>
  journalEnd(): Promise<{ readonly n: number; readonly hash: string }>
  idempotency(owner: string, key: string): Promise<IdempotencyRow | null>
  jobRefs(ids: readonly string[]): Promise<readonly JobRef[]>
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

/** Batches on their way to the disk at once: while one is being written, the next is decided. More would only make latencies longer. */
const MAX_FLIGHTS = 2

type Submit = Extract<Command, { kind: 'submit' }>

interface Pending {
  readonly command: Command
  readonly facts: Facts
  readonly keyRead: KeyRead | null
  readonly resolve: (reply: never) => void
  readonly reject: (error: unknown) => void
}

/** Someone who saw what a batch did before it was durable; after a rebuilding they look again. */
interface Reader {
  readonly landed: () => void
  readonly rebuilt: () => void
  readonly reject: (error: unknown) => void
}

/** A decided batch on its way to the disk, and everyone who must not hear of it before it is there. */
interface Flight {
  readonly batch: Batch
  readonly taken: Pending[]
  readonly answers: (() => void)[]
  readonly readers: Reader[]
  readonly landing: Promise<unknown>
}

/**
 * The loop: commands of one moment share one batch; a batch is durable before anyone hears of it.
 * flying: up to two batches are decided and not yet durable, in order. rebuilding: the disk was full, memory is read anew. broken: the process ends.
 */
export class EngineLoop {
  #core: Core
  readonly #ports: LoopPorts
  readonly #listeners = new Set<(batch: Batch) => void>()
  readonly #keys = new RecentKeys()
  #pending: Pending[] = []
  #flights: Flight[] = []
  #scheduled = false
  #rebuilding = false
  #broken: unknown = null

  constructor(core: Core, ports: LoopPorts) {
    this.#core = core
    this.#ports = ports
  }

  /** Resolves after the command's changes are durable; rejects with Refused if it was not allowed. */
  async execute<C extends Command>(command: C): Promise<ReplyTo<C>> {
    if (command.kind !== 'submit') return this.#enqueue(command, NO_FACTS, null)
    const ids = awaitedIds(command.jobs)
    if (command.key === null && ids.length === 0) return this.#enqueue(command, NO_FACTS, null)
    const keyRead = command.key === null ? null : this.#keys.beginRead()
    return this.#enqueue(command, await this.#facts(command, ids, keyRead), keyRead)
  }

  #enqueue<C extends Command>(command: C, facts: Facts, keyRead: KeyRead | null): Promise<ReplyTo<C>> {
    return new Promise<ReplyTo<C>>((resolve, reject) => {
      this.#pending.push({ command, facts, keyRead, resolve: resolve as (reply: never) => void, reject })
      this.#schedule()
    })
  }

  /** Live state, told once the batches it was seen in are durable. */
  async read<T>(look: (state: State) => T): Promise<T> {
    if (this.#broken !== null) throw this.#broken
    const seen = look(this.#core.state)
    const last = this.#flights.at(-1)
    if (last === undefined) return seen
    const isRebuilt = await new Promise<boolean>((resolve, reject) => {
      last.readers.push({ landed: () => resolve(false), rebuilt: () => resolve(true), reject })
    })
    return isRebuilt ? look(this.#core.state) : seen
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

  get #mayTurn(): boolean {
    return this.#flights.length < MAX_FLIGHTS && !this.#rebuilding && this.#broken === null
  }

  #schedule(): void {
    if (this.#scheduled || !this.#mayTurn) return
    this.#scheduled = true
    this.#ports.soon(() => {
      this.#scheduled = false
      if (this.#mayTurn) this.#turn()
    })
  }

  #turn(): void {
    const taken = this.#pending
    this.#pending = []
    try {
      const now = this.#ports.now()
      const answers = taken.map(pending => this.#decide(pending, now))
      const batch = this.#core.finish(now)
      if (batch === null) this.#nothingHappened(taken, answers)
      else this.#fly(batch, taken, answers)
    } catch (error) {
      this.#break(error, taken)
    }
  }

  /** Answers may still rest on a batch that is not durable yet. */
  #nothingHappened(taken: readonly Pending[], answers: readonly (() => void)[]): void {
    const last = this.#flights.at(-1)
    if (last === undefined) {
      this.#endReads(taken)
      settle(answers)
      return
    }
    last.taken.push(...taken)
    last.answers.push(...answers)
  }

  #fly(batch: Batch, taken: Pending[], answers: (() => void)[]): void {
    this.#keys.decided()
    const landing = this.#ports.journal.append(batch.commit)
    const flight: Flight = { batch, taken, answers, readers: [], landing }
    this.#flights.push(flight)
    landing.then(
      () => this.#landed(flight),
      error => this.#failed(flight, error).catch(broken => this.#break(broken, [])),
    )
  }

  /** The store writes in order, so the flight that lands is the oldest one. */
  #landed(flight: Flight): void {
    this.#flights.shift()
    this.#endReads(flight.taken)
    this.#keys.written()
    settle(flight.answers)
    for (const listener of this.#listeners) listener(flight.batch)
    for (const { landed } of flight.readers) landed()
    if (this.#pending.length > 0 || this.#core.isBehind) this.#schedule()
  }

  /** Whether the batch is durable after all. If it is known not to be, neither are those behind it: memory is rebuilt and only what ends work is tried again. */
  async #failed(flight: Flight, error: unknown): Promise<void> {
    if (this.#rebuilding || this.#broken !== null) return
    if (!this.#ports.isDiskFull(error)) {
      if (!(await this.#isThere(flight.batch))) throw error
      this.#landed(flight)
      return
    }
    this.#rebuilding = true
    const flights = this.#flights
    this.#flights = []
    await Promise.allSettled(flights.map(({ landing }) => landing))
    this.#core = await this.#ports.recover()
    this.#keys.dropped()
    const reserve = await this.#ports.openReserve()
    this.#rebuilding = false
    const taken = flights.flatMap(each => each.taken)
    this.#pending = [...taken.filter(pending => this.#isTriedAgain(pending, reserve)), ...this.#pending]
    for (const { rebuilt } of flights.flatMap(each => each.readers)) rebuilt()
    if (this.#pending.length > 0 || this.#core.isBehind) this.#schedule()
  }

  async #isThere({ commit }: Batch): Promise<boolean> {
    const end = await this.#ports.journal.journalEnd()
    return commit.journal !== null && (end.n > commit.journal.n || end.hash === commit.journal.hash)
  }

  #isTriedAgain(pending: Pending, reserve: boolean): boolean {
    const { kind } = pending.command
    if (reserve && kind !== 'submit' && kind !== 'fire') return true
    pending.reject(new Refused('disk.full', 'the disk of the hub is full; nothing was written'))
    return false
  }

  #decide(pending: Pending, now: Now): () => void {
    try {
      const reply = this.#core.execute(pending.command, this.#freshFacts(pending), now)
      this.#rememberKey(pending.command, reply, now)
      return () => pending.resolve(reply as never)
    } catch (error) {
      // Answers leave when what they rest on is durable: from then on the store knows what had changed.
      if (error instanceof StaleFacts)
        return () => void this.execute(pending.command).then(pending.resolve as () => void, pending.reject)
      if (!(error instanceof Refused)) throw error
      return () => pending.reject(error)
    }
  }

  async #facts({ owner, key }: Submit, ids: readonly string[], keyRead: KeyRead | null): Promise<Facts> {
    const { journal } = this.#ports
    try {
      const idempotency = key === null ? null : await journal.idempotency(owner, key.key)
      const refs = ids.length === 0 ? [] : await journal.jobRefs(ids)
      return { idempotency, dependencies: new Map(refs.map(ref => [ref.id, ref])) }
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

  #endReads(taken: readonly Pending[]): void {
    for (const { keyRead } of taken) if (keyRead !== null) this.#keys.endRead(keyRead)
  }

  /** The store was asked before the batch in which a submit with the same key may have been taken: that one must be seen. */
  #freshFacts({ command, facts }: Pending): Facts {
    if (command.kind !== 'submit' || command.key === null || facts.idempotency !== null) return facts
    return { ...facts, idempotency: this.#keys.find(command.owner, command.key.key) }
  }

  #break(error: unknown, taken: readonly Pending[]): void {
    this.#broken = error
    const flights = this.#flights
    this.#flights = []
    for (const { reject } of [...flights.flatMap(each => each.taken), ...taken, ...this.#pending]) reject(error)
    for (const { reject } of flights.flatMap(each => each.readers)) reject(error)
    this.#ports.broken(error)
  }
}

function settle(answers: readonly (() => void)[]): void {
  for (const answer of answers) answer()
}
