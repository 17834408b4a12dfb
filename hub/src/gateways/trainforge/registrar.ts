import { Refused } from '@stoker/protocol'
import { hear, setConnected } from '../../engine/liveness.ts'
import type { DialectCaller } from '../../serving/dialect-caller.ts'
import { AnswerError } from './answer-error.ts'
import type { TrainForgeContext } from './context.ts'
import { inTurn, type KnownWorker, type Ledger, noteOf } from './ledger.ts'
import { aWorker } from './recall.ts'
import type { Registration } from './registration.ts'
import { strangerIn } from './rules/conflict.ts'
import { LIKELY_REASONS } from './rules/offer-lease.ts'
import { type WorkerSettings, workerFacts } from './worker-facts.ts'
import { engineId, isPassing, wrongId } from './worker-id.ts'

/** Who calls under which id. */
export interface WorkerCall {
  readonly caller: DialectCaller
  readonly address: string
}

/** Workers nobody registered; more than this at once are a mistake, or mischief. */
const MOST_ADOPTED = 1000
const TELLING_DECLINES = 3

/** Knows who the workers are, and keeps the engine's picture of them true. */
export class Registrar {
  readonly #context: TrainForgeContext
  readonly #ledger: Ledger

  constructor(context: TrainForgeContext, ledger: Ledger) {
    this.#context = context
    this.#ledger = ledger
  }

  /** May be repeated; whatever an earlier process of the worker held is over. */
  async register(id: unknown, told: Registration, call: WorkerCall): Promise<KnownWorker> {
    const worker = this.#admit(checked(id), call) ?? this.#newcomer(checked(id), call)
    await inTurn(worker, async () => {
      this.#sight(worker, call, told.hostname === '' ? null : told.hostname)
      const isKnown = await this.#context.engine.read(state => state.workers.has(worker.key))
      if (isKnown)
        await this.#context.engine.execute({ kind: 'goodbye', worker: worker.key, reason: 'registered again' })
      Object.assign(worker, { told, address: call.address, declines: 0, excess: null, doubt: null, fastPolls: 0 })
      worker.lingering.clear()
      await this.enlist(worker)
    })
    this.hear(worker)
    return worker
  }

  /** The worker under an id that calls; one nobody knows is taken as it is, with one slot and no GPU. */
  async known(id: unknown, call: WorkerCall): Promise<KnownWorker> {
    const name = checked(id)
    const found = this.#admit(name, call)
    if (found !== undefined) {
      this.#sight(found, call, null)
      this.hear(found)
      return found
    }
    const adopted = [...this.#ledger.workers].filter(({ told }) => told.kind === 'adopted').length
    if (adopted >= MOST_ADOPTED) throw new AnswerError(429, `${adopted} workers call without having registered`)
    const worker = this.#newcomer(name, call)
    await inTurn(worker, () => this.enlist(worker))
    this.hear(worker)
    return worker
  }

  /** Undefined when nobody has that id, or somebody else. */
  find(id: string, { caller }: WorkerCall): KnownWorker | undefined {
    const worker = this.#ledger.worker(id)
    return worker === undefined || mayBe(caller, worker) ? worker : undefined
  }

  async unregister(id: unknown, call: WorkerCall): Promise<void> {
    const worker = this.#admit(checked(id), call)
    if (worker === undefined) return
    const { engine } = this.#context
    await inTurn(worker, async () => {
      await engine.execute({ kind: 'goodbye', worker: worker.key, reason: 'unregistered' })
      engine.touch(state => setConnected(state, worker.key, false))
      if (isPassing(worker.id)) await engine.execute({ kind: 'removeWorker', worker: worker.key })
    })
  }

  async set(worker: KnownWorker, settings: Partial<WorkerSettings>): Promise<void> {
    worker.settings = { ...worker.settings, ...settings }
    await this.enlist(worker)
  }

  /** Tells the engine what is known of the worker now, and remembers it. */
  async enlist(worker: KnownWorker): Promise<void> {
    const { engine } = this.#context
    worker.remarks = remarksOn(worker)
    const facts = workerFacts({ ...worker, remarks: worker.remarks })
    const enlisted = engine.execute({ kind: 'enlist', worker: worker.key, facts })
    const noted = engine.execute({ kind: 'note', worker: worker.key, note: noteOf(worker) })
    await Promise.all([enlisted, noted])
  }

  /** What people are shown of the worker is as it was, or is told anew. */
  async refresh(worker: KnownWorker): Promise<void> {
    if (worker.remarks !== remarksOn(worker)) await this.enlist(worker)
  }

  /** Any call is a sign of life. */
  hear(worker: KnownWorker): void {
    worker.heardAt = this.#context.clock().lease
    this.#context.engine.touch((state, now) => {
      hear(state, worker.key, now)
      if (state.workers.get(worker.key)?.connected === false) setConnected(state, worker.key, true)
    })
  }

  /** Two processes under one id. */
  async suspect(worker: KnownWorker, why: string): Promise<void> {
    worker.conflictAt = this.#context.clock().lease
    if (worker.conflict === why) return
    worker.conflict = why
    this.#context.log('warn', `trainforge: two workers seem to use the id ${JSON.stringify(worker.id)}: ${why}`)
    await this.refresh(worker)
  }

  #sight(worker: KnownWorker, { address }: WorkerCall, hostname: string | null): void {
    const seen = { at: this.#context.clock().lease, address, hostname: hostname ?? worker.seen?.hostname ?? null }
    const why = strangerIn(worker.seen, seen)
    worker.seen = seen
    if (why !== null) void this.suspect(worker, why).catch(() => {})
  }

  #admit(id: string, { caller }: WorkerCall): KnownWorker | undefined {
    const worker = this.#ledger.worker(id)
    if (worker === undefined || mayBe(caller, worker)) return worker
    throw new Refused('worker.duplicate', `worker ${id} belongs to ${worker.owner}, the token to ${caller.owner}`)
  }

  #newcomer(id: string, { caller, address }: WorkerCall): KnownWorker {
    const worker = aWorker(id, engineId(id), caller.owner, this.#context.clock().lease)
    worker.address = address
    this.#ledger.put(worker)
    return worker
  }
}

function checked(id: unknown): string {
  const wrong = wrongId(id)
  if (wrong !== null) throw new AnswerError(400, wrong)
  return id as string
}

function mayBe(caller: DialectCaller, worker: KnownWorker): boolean {
  return caller.role === 'admin' || caller.owner === worker.owner
}

function remarksOn({ conflict, declines, doubt }: KnownWorker): string {
  const remarks = [
    conflict === null ? null : `two live workers seem to use this id: ${conflict}`,
    declines < TELLING_DECLINES ? null : `it started none of the last ${declines} offers; likely: ${LIKELY_REASONS}`,
    doubt,
  ]
  return remarks.filter(remark => remark !== null).join('; ')
}
