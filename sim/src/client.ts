import type { JobSpec } from '@stoker/protocol'
import type { NewGroup, NewJob } from '../../hub/src/engine/commands.ts'
import type { SimHub } from './hub/sim-hub.ts'
import type { Random } from './world/random.ts'
import type { Timeline } from './world/timeline.ts'

export interface ClientPorts {
  readonly timeline: Timeline
  readonly random: Random
  readonly hub: SimHub
  readonly lostReply: () => number
  /** How long a client waits before it asks again with the same key. */
  readonly patienceMs: () => number
  readonly answered: (key: string, reply: { readonly firstSeq: number; readonly count: number }) => void
}

interface Request {
  readonly isGroup: boolean
  readonly maxParallel: number | null
  isAnswered: boolean
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

  /** Some lists are groups. */
  submit(specs: readonly JobSpec[]): void {
    const { random } = this.#ports
    const isGroup = specs.length > 1 && random.chance(0.5)
    const maxParallel = isGroup && random.chance(0.5) ? random.between(1, 3) : null
    this.#lastKey += 1
    this.#open += 1
    this.#try(`key-${this.#lastKey}`, specs, { isGroup, maxParallel, isAnswered: false })
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
    const jobs = specs.map(spec => this.#newJob(spec))
    const answer = (reply: { readonly firstSeq: number; readonly count: number }) => {
      if (random.chance(lostReply())) return
      this.#ports.answered(key, reply)
      if (request.isAnswered) return
      request.isAnswered = true
      this.#open -= 1
      for (let index = 0; index < reply.count; index += 1) this.accepted.push(reply.firstSeq + index)
    }
    const groups = request.isGroup ? [this.#newGroup(specs.length, request.maxParallel)] : []
    const command = { kind: 'submit' as const, owner: 'anna', jobs, groups, key: { key, hash: key }, failFast: false }
    timeline.in(1, () => hub.execute(command, answer, ignore))
    timeline.in(patienceMs(), () => this.#try(key, specs, request))
  }

  #newGroup(size: number, maxParallel: number | null): NewGroup {
    return { id: this.#newId(), name: 'group', first: 0, size, maxParallel, retryOf: null }
  }

  #newId(): string {
    this.#lastId += 1
    return `00000000-0000-7000-8000-${this.#lastId.toString(16).padStart(12, '0')}`
  }

  #newJob(spec: JobSpec): NewJob {
    return { id: this.#newId(), spec, specText: JSON.stringify(spec), retryOf: null }
  }
}

function ignore(): void {}
