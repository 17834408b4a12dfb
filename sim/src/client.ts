import type { JobSpec } from '@stoker/protocol'
import type { NewJob } from '../../hub/src/engine/commands.ts'
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
    this.#lastKey += 1
    this.#open += 1
    this.#try(`key-${this.#lastKey}`, specs, { isAnswered: false })
  }

  /** Asks once; whether it was heard does not matter. */
  cancel(job: number): void {
    this.#ports.hub.execute({ kind: 'cancel', job, by: 'a client' }, ignore, ignore)
  }

  #try(key: string, specs: readonly JobSpec[], request: { isAnswered: boolean }): void {
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
    const command = { kind: 'submit' as const, owner: 'anna', jobs, key: { key, hash: key }, failFast: false }
    timeline.in(1, () => hub.execute(command, answer, ignore))
    timeline.in(patienceMs(), () => this.#try(key, specs, request))
  }

  #newJob(spec: JobSpec): NewJob {
    this.#lastId += 1
    const id = `00000000-0000-7000-8000-${this.#lastId.toString(16).padStart(12, '0')}`
    return { id, spec, specText: JSON.stringify(spec), retryOf: null }
  }
}

function ignore(): void {}
