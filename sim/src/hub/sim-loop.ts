import { Refused } from '@stoker/protocol'
import { awaitedIds } from '../../../hub/src/engine/awaited-ids.ts'
import {
  type Command,
  type Facts,
  NO_FACTS,
  type Replies,
  type ReplyTo,
  StaleFacts,
} from '../../../hub/src/engine/commands.ts'
import type { Batch, Core } from '../../../hub/src/engine/core.ts'
import { type KeyRead, RecentKeys } from '../../../hub/src/engine/recent-keys.ts'
import type { Now, State } from '../../../hub/src/engine/state.ts'
import type { MemoryTables } from '../../../hub/src/store/memory/tables.ts'

/** Where a hub may die: a batch was decided and nothing written, or written and nobody told. */
export type CrashPoint = 'decided' | 'appended'

export interface SimLoopPorts {
  readonly tables: MemoryTables
  readonly now: () => Now
  /** Dies with the hub's process. */
  readonly after: (ms: number, run: () => void) => void
  readonly commitMs: () => number
  readonly factsMs: () => number
  /** True if the hub died here. */
  readonly diesAt: (point: CrashPoint) => boolean
  readonly isDiskFull: () => boolean
  readonly openReserve: () => boolean
  readonly recover: () => Core
  readonly durable: (batch: Batch) => void
  readonly publish: (batch: Batch) => void
  /** A planted bug: tells before it writes. */
  readonly publishesFirst: boolean
}

interface Pending {
  readonly command: Command
  readonly facts: Facts
  readonly keyRead: KeyRead | null
  readonly done: (reply: never) => void
  readonly refused: (error: Refused) => void
}

/** A decided batch on its way to the disk, and who must not hear of it before it is there. */
interface Flight {
  readonly batch: Batch
  readonly taken: Pending[]
  readonly answers: (() => void)[]
  readonly readers: ((state: State) => void)[]
}

/** As many as the engine's own loop has. */
const MAX_FLIGHTS = 2

/** The engine's loop under virtual time, with its steps in the same order: decide all, append, then answer, publish, let readers look. While one batch is written, the next is decided. */
export class SimLoop {
  readonly #ports: SimLoopPorts
  readonly #keys = new RecentKeys()
  #core: Core
  #pending: Pending[] = []
  #flights: Flight[] = []
  #isScheduled = false

  constructor(core: Core, ports: SimLoopPorts) {
    this.#core = core
    this.#ports = ports
  }

  /** Memory as it stands, durable or not. */
  get state(): State {
    return this.#core.state
  }

  get isIdle(): boolean {
    return this.#flights.length === 0 && this.#pending.length === 0 && !this.#core.isBehind
  }

  /** Batches that were decided and may or may not have reached the disk when the hub died, oldest first. */
  get inFlight(): readonly Batch[] {
    return this.#flights.map(({ batch }) => batch)
  }

  execute<C extends Command>(command: C, done: (reply: ReplyTo<C>) => void, refused: (error: Refused) => void): void {
    if (command.kind !== 'submit') {
      this.#add({ command, facts: NO_FACTS, keyRead: null, done, refused })
      return
    }
    const { owner, key } = command
    const { tables } = this.#ports
    const keyRead = key === null ? null : this.#keys.beginRead()
    const facts = {
      idempotency: key === null ? null : tables.idempotency(owner, key.key),
      dependencies: new Map(tables.jobRefs(awaitedIds(command.jobs)).map(ref => [ref.id, ref])),
    }
    this.#ports.after(this.#ports.factsMs(), () => this.#add({ command, facts, keyRead, done, refused }))
  }

  read(look: (state: State) => void): void {
    const last = this.#flights.at(-1)
    if (last === undefined) look(this.#core.state)
    else last.readers.push(look)
  }

  touch(poke: (state: State, now: Now) => void): void {
    poke(this.#core.state, this.#ports.now())
  }

  replan(): void {
    if (this.#isScheduled || this.#flights.length >= MAX_FLIGHTS) return
    this.#isScheduled = true
    this.#ports.after(0, this.#turn)
  }

  #add(pending: Pending): void {
    this.#pending.push(pending)
    this.replan()
  }

  readonly #turn = (): void => {
    this.#isScheduled = false
    if (this.#flights.length >= MAX_FLIGHTS) return
    const taken = this.#pending
    this.#pending = []
    const now = this.#ports.now()
    const answers = taken.map(pending => this.#decide(pending, now))
    const batch = this.#core.finish(now)
    if (batch === null) {
      this.#nothingHappened(taken, answers)
      return
    }
    if (this.#ports.diesAt('decided')) return
    this.#keys.decided()
    this.#flights.push({ batch, taken, answers, readers: [] })
    if (this.#ports.publishesFirst) this.#tell(answers, batch)
    if (this.#flights.length === 1) this.#write()
  }

  #nothingHappened(taken: readonly Pending[], answers: readonly (() => void)[]): void {
    const last = this.#flights.at(-1)
    if (last === undefined) {
      this.#endReads(taken)
      for (const answer of answers) answer()
      return
    }
    last.taken.push(...taken)
    last.answers.push(...answers)
  }

  #write(): void {
    this.#ports.after(this.#ports.commitMs(), this.#written)
  }

  readonly #written = (): void => {
    const flight = this.#flights[0]
    if (flight === undefined) return
    if (this.#ports.isDiskFull()) this.#recover()
    else this.#append(flight)
    if (this.#flights.length > 0) this.#write()
    if (this.#pending.length > 0 || this.#core.isBehind) this.replan()
  }

  #append({ batch, taken, answers, readers }: Flight): void {
    this.#ports.tables.applyCommit(batch.commit)
    this.#flights.shift()
    this.#endReads(taken)
    this.#keys.written()
    this.#ports.durable(batch)
    if (this.#ports.diesAt('appended')) return
    if (!this.#ports.publishesFirst) this.#tell(answers, batch)
    for (const read of readers) read(this.#core.state)
  }

  #tell(answers: readonly (() => void)[], batch: Batch): void {
    for (const answer of answers) answer()
    this.#ports.publish(batch)
  }

  #decide({ command, facts, done, refused }: Pending, now: Now): () => void {
    try {
      const reply = this.#core.execute(command, this.#freshFacts(command, facts), now)
      this.#rememberKey(command, reply, now)
      return () => done(reply as never)
    } catch (error) {
      if (error instanceof StaleFacts) return () => this.execute(command, done as () => void, refused)
      if (!(error instanceof Refused)) throw error
      return () => refused(error)
    }
  }

  #freshFacts(command: Command, facts: Facts): Facts {
    if (command.kind !== 'submit' || command.key === null || facts.idempotency !== null) return facts
    return { ...facts, idempotency: this.#keys.find(command.owner, command.key.key) }
  }

  #rememberKey(command: Command, reply: unknown, now: Now): void {
    if (command.kind !== 'submit' || command.key === null) return
    const { firstSeq, count, repeated } = reply as Replies['submit']
    if (!repeated) this.#keys.remember({ owner: command.owner, ...command.key, firstSeq, count, at: now.wall })
  }

  #endReads(taken: readonly Pending[]): void {
    for (const { keyRead } of taken) if (keyRead !== null) this.#keys.endRead(keyRead)
  }

  /** Nothing was written: memory is rebuilt, and only what ends work is tried again. */
  #recover(): void {
    const flights = this.#flights
    this.#flights = []
    this.#core = this.#ports.recover()
    this.#keys.dropped()
    const reserve = this.#ports.openReserve()
    const again: Pending[] = []
    for (const pending of flights.flatMap(flight => flight.taken)) {
      const { kind } = pending.command
      if (reserve && kind !== 'submit' && kind !== 'fire') again.push(pending)
      else pending.refused(new Refused('disk.full', 'the disk of the hub is full; nothing was written'))
    }
    this.#pending = [...again, ...this.#pending]
    for (const read of flights.flatMap(flight => flight.readers)) read(this.#core.state)
  }
}
