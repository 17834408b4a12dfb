import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptReport, Fence, GpuSample, OutputStream, Progress } from '@stoker/protocol'
import type { Runner } from '../../run/runner.ts'
import type { Link } from '../link.ts'
import { ForeignJobs, type ForeignPorts } from './foreign-jobs.ts'
import type { Answer } from './hub-calls.ts'
import type { JobRecord } from './job-record.ts'
import { Presence, type PresencePorts } from './presence.ts'
import { Pulse } from './pulse.ts'
import type { HeldJob, Talk } from './talk.ts'

const SAMPLE_MS = 5_000

/** What a dialect may do with the jobs of its link. */
export interface Desk {
  readonly jobs: Pick<ForeignJobs, 'ids' | 'taken' | 'isDraining' | 'take'>
  /** Takes what nobody here has seen; of what is over already the end is told again, as the hub must have lost it. */
  offered(id: string, take: () => void): void
}

/** A foreign protocol: its words and its order, without the keeping of jobs. */
export interface Dialect {
  register(signal: AbortSignal): Promise<void>
  beat(signal: AbortSignal): Promise<Answer>
  /** Whether another job could be taken now. */
  readonly hasRoom: boolean
  /** Asks for jobs and puts them on the desk. */
  ask(signal: AbortSignal): Promise<void>
  talkAbout(job: HeldJob): Talk
  /** The last word about a job once more. */
  repeat(id: string, said: string, signal: AbortSignal): Promise<unknown>
  goodbye(): Promise<unknown>
}

export interface ForeignLinkPorts
  extends Omit<ForeignPorts, 'talkAbout' | 'freed' | 'told'>,
    Omit<PresencePorts, 'register' | 'beat' | 'signal'> {
  /** Lets go of its connections. */
  readonly hangUp: () => void
  readonly pollMs: number
  readonly samples: () => readonly GpuSample[]
}

/** A link to a foreign hub: present there, asking for jobs while there is room, and never forgetting one. */
export class ForeignLink implements Link {
  readonly #ports: ForeignLinkPorts
  readonly #dialect: Dialect
  readonly #jobs: ForeignJobs
  readonly #presence: Presence
  readonly #poll: Pulse
  readonly #sampling: Pulse
  readonly #stop = new AbortController()
  readonly #repeating = new Set<string>()
  /** Offered again while their last word was on its way: whether the hub had heard it by then, nobody knows. */
  readonly #offeredMeanwhile = new Set<string>()
  #present: Promise<void> = Promise.resolve()

  constructor(ports: ForeignLinkPorts, dialectAt: (desk: Desk) => Dialect) {
    this.#ports = ports
    const { signal } = this.#stop
    const talkAbout = (job: HeldJob) => this.#dialect.talkAbout(job)
    this.#jobs = new ForeignJobs({
      ...ports,
      talkAbout,
      freed: () => this.#poll.hurry(),
      told: record => this.#told(record),
    })
    this.#dialect = dialectAt({ jobs: this.#jobs, offered: (id, take) => this.#offered(id, take) })
    this.#presence = new Presence({
      ...ports,
      signal,
      register: () => this.#dialect.register(signal),
      beat: () => this.#dialect.beat(signal),
      ready: () => {
        this.#poll.hurry()
        ports.ready()
      },
    })
    const failed = (error: unknown) => ports.log('debug', `no answer: ${String(error)}`)
    this.#poll = new Pulse({ everyMs: ports.pollMs, leastMs: ports.pollMs / 10, beat: () => this.#ask(), failed })
    const sample = () => this.#jobs.sample(ports.samples())
    this.#sampling = new Pulse({ everyMs: SAMPLE_MS, leastMs: SAMPLE_MS, beat: sample, failed })
  }

  async start(runner: Runner): Promise<void> {
    await this.#jobs.start(runner)
    this.#sampling.start()
    this.#poll.start()
    this.#present = this.#presence.keep()
  }

  report(reports: readonly AttemptReport[], sizes?: Readonly<Record<OutputStream, number>>): void {
    this.#jobs.report(reports, sizes)
  }

  output(fence: Fence, sizes: Readonly<Record<OutputStream, number>>): void {
    this.#jobs.output(fence, sizes)
  }

  progress(fence: Fence, progress: Progress): void {
    this.#jobs.progress(fence, progress)
  }

  /** Sessions are ours alone. */
  ready(): void {}

  /** Told when it registers, where the dialect has words for it. */
  tellAbilities(): void {}

  drain(): void {
    this.#jobs.drain()
  }

  async leave(_reason: string, withinMs: number): Promise<void> {
    const settled = new AbortController()
    const timeUp = sleep(withinMs, undefined, { signal: settled.signal }).catch(() => {})
    await Promise.race([this.#jobs.settled(), timeUp])
    settled.abort()
    if (this.#presence.isRegistered) await this.#dialect.goodbye().catch(() => {})
    await this.close()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await Promise.all([this.#jobs.close(), this.#poll.stop(), this.#sampling.stop(), this.#present])
    this.#ports.hangUp()
  }

  async #ask(): Promise<void> {
    if (!this.#presence.isRegistered || this.#jobs.isDraining || !this.#dialect.hasRoom) return
    await this.#dialect.ask(this.#stop.signal)
  }

  #offered(id: string, take: () => void): void {
    const known = this.#jobs.find(id)
    if (known === null) {
      if (!this.#jobs.isDraining) take()
    } else if (known.said !== null) {
      if (known.toldAt === null) this.#offeredMeanwhile.add(id)
      else void this.#repeat(id, known.said)
    }
  }

  #told({ id, said }: JobRecord): void {
    if (this.#offeredMeanwhile.delete(id) && said !== null) void this.#repeat(id, said)
  }

  async #repeat(id: string, said: string): Promise<void> {
    if (this.#repeating.has(id)) return
    this.#repeating.add(id)
    this.#ports.log('info', `job ${id} was offered again; its end is told again`)
    await this.#dialect.repeat(id, said, this.#stop.signal).catch(() => {})
    this.#repeating.delete(id)
  }
}
