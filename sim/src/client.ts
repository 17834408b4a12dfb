import { type JobSpec, type Refused, writeSpec } from '@stoker/protocol'
import type { NewGroup, NewJob } from '../../hub/src/engine/commands.ts'
import type { SimHub } from './hub/sim-hub.ts'
import { resolveLinks } from './links.ts'
import type { Random } from './world/random.ts'
import type { Timeline } from './world/timeline.ts'

export interface ClientPorts {
  readonly timeline: Timeline
  readonly random: Random
  readonly hub: SimHub
  /** How many of the lists are groups. */
  readonly groupShare: number
  readonly lostReply: () => number
  /** How long a client waits before it asks again with the same key. */
  readonly patienceMs: () => number
  readonly answered: (key: string, reply: { readonly firstSeq: number; readonly count: number }) => void
}

interface Request {
  readonly isGroup: boolean
  readonly maxParallel: number | null
  isAnswered: boolean
  earlier: string | null
}

/** Submits until it has an answer, with the same key each time, as a careful client does. */
export class Client {
  readonly #ports: ClientPorts
  #lastId = 0
  #lastKey = 0
  #open = 0
  readonly accepted: number[] = []

  constructor(ports: ClientPorts) {
    this.#ports = ports
  }

  get isDone(): boolean {
    return this.#open === 0
  }

  submit(specs: readonly JobSpec[]): void {
    const { random, groupShare } = this.#ports
    const isGroup = specs.length > 1 && random.chance(groupShare)
    const maxParallel = isGroup && random.chance(0.5) ? random.between(1, 3) : null
    this.#lastKey += 1
    this.#open += 1
    this.#try(`key-${this.#lastKey}`, specs, { isGroup, maxParallel, isAnswered: false, earlier: this.#anyAccepted() })
  }

  /** Asks once for one of the things that can be asked of a job that has not started. */
  wish(job: number): void {
    const { hub, random } = this.#ports
    const by = 'a client'
    const kind = random.pick(['hold', 'release', 'setPriority'] as const)
    if (kind === 'setPriority') hub.execute({ kind, job, priority: random.between(-5, 10) }, ignore, ignore)
    else hub.execute({ kind, job, by }, ignore, ignore)
  }

  /** Nothing is held any more, so that everything can end. */
  releaseAll(): void {
    const { hub } = this.#ports
    for (const { seq, heldBy } of hub.state?.waiting.values() ?? [])
      if (heldBy !== null) hub.execute({ kind: 'release', job: seq, by: 'a client' }, ignore, ignore)
  }

  /** Asks once; whether it was heard does not matter. */
  cancel(job: number): void {
    this.#ports.hub.execute({ kind: 'cancel', job, by: 'a client' }, ignore, ignore)
  }

  /** Asks once for the end of some group. */
  cancelGroup(): void {
    const { hub, random } = this.#ports
    const groups = [...(hub.state?.groups.keys() ?? [])]
    if (groups.length > 0)
      hub.execute({ kind: 'cancelGroup', group: random.pick(groups), by: 'a client' }, ignore, ignore)
  }

  #try(key: string, specs: readonly JobSpec[], request: Request): void {
    if (request.isAnswered) return
    const { timeline, hub, random, lostReply, patienceMs } = this.#ports
    const ids = specs.map(() => this.#newId())
    const textOf = specTexts()
    const jobs = resolveLinks(specs, ids, () => request.earlier).map(
      (spec, index): NewJob => ({ id: ids[index] ?? '', spec, specText: textOf(spec), retryOf: null }),
    )
    const answer = (reply: { readonly firstSeq: number; readonly count: number }) => {
      if (random.chance(lostReply())) return
      this.#ports.answered(key, reply)
      if (request.isAnswered) return
      request.isAnswered = true
      this.#open -= 1
      for (let index = 0; index < reply.count; index += 1) this.accepted.push(reply.firstSeq + index)
      if (random.chance(0.3)) this.wish(random.pick(this.accepted.slice(-20)))
    }
    const groups = request.isGroup ? [this.#newGroup(specs.length, request.maxParallel)] : []
    const command = { kind: 'submit' as const, owner: 'anna', jobs, groups, key: { key, hash: key }, failFast: false }
    /** The earlier job has ended in another way than asked: the batch does without it. */
    const refused = (error: Refused) => {
      if (error.code !== 'dependency.unmeetable') return
      request.earlier = null
      this.#try(key, specs, request)
    }
    timeline.in(1, () => hub.execute(command, answer, refused))
    timeline.in(patienceMs(), () => this.#try(key, specs, request))
  }

  #newGroup(size: number, maxParallel: number | null): NewGroup {
    return { id: this.#newId(), name: 'group', first: 0, size, maxParallel, retryOf: null }
  }

  #newId(): string {
    this.#lastId += 1
    return `00000000-0000-7000-8000-${this.#lastId.toString(16).padStart(12, '0')}`
  }

  #anyAccepted(): string | null {
    const { hub, random } = this.#ports
    if (this.accepted.length === 0) return null
    return hub.tables.queries.jobsBySeq([random.pick(this.accepted)])[0]?.id ?? null
  }
}

/** Large batches repeat a few specs. */
function specTexts(): (spec: JobSpec) => string {
  const texts = new Map<JobSpec, string>()
  return spec => {
    const text = texts.get(spec) ?? writeSpec(spec)
    texts.set(spec, text)
    return text
  }
}

function ignore(): void {}
