import { type JobSpec, writeSpec } from '@stoker/protocol'
import type { Command, NewJob } from '../../hub/src/engine/commands.ts'
import type { SessionState } from '../../hub/src/engine/sessions.ts'
import type { SimHub } from './hub/sim-hub.ts'
import { PLAIN } from './workload.ts'
import type { Random } from './world/random.ts'
import type { Timeline } from './world/timeline.ts'

export interface SessionTrafficPorts {
  readonly timeline: Timeline
  readonly random: Random
  readonly hub: SimHub
  readonly hasGpus: boolean
  /** After this nothing new begins. */
  readonly endMs: number
}

const PRESET = 'model/chat'
const MOST_SESSIONS = 4

/** Sessions that come and go, and tasks for them: for one of them, or for whichever was made from a preset. */
export class SessionTraffic {
  readonly #ports: SessionTrafficPorts
  #lastId = 0

  constructor(ports: SessionTrafficPorts) {
    this.#ports = ports
  }

  /** No task waits for a session that nobody would start. */
  get isDone(): boolean {
    return this.#ports.timeline.now > this.#ports.endMs && this.#ports.hub.state?.targets.size === 0
  }

  start(): void {
    this.#look()
  }

  #look(): void {
    const { timeline, random, hub, endMs } = this.#ports
    const isOver = timeline.now > endMs
    const live = [...(hub.state?.sessions.values() ?? [])]
    const waiting = hub.state?.targets.get(`preset:${PRESET}`)
    const isNeeded = waiting !== undefined && waiting.queued > 0 && waiting.sessions.size === 0
    if (isNeeded || (!isOver && live.length < MOST_SESSIONS && random.chance(0.5)))
      this.#submit([this.#session(isNeeded)])
    if (!isOver && live.length > 0) this.#use(random.pick(live))
    timeline.in(random.between(200, 2_000), () => this.#look())
  }

  #use({ seq, id, terms, places }: SessionState): void {
    const { random, hub } = this.#ports
    const isShared = terms.preset !== null && random.chance(0.5)
    const task = isShared ? { session: null, preset: PRESET } : { session: id, preset: null }
    // Every other session answers at once, and is asked more.
    const isQuick = seq % 2 === 0
    this.#submit(Array.from({ length: random.between(1, isQuick ? 12 : 3) }, () => this.#task(task, isQuick)))
    if (random.chance(0.05)) hub.execute({ kind: 'endSession', job: seq, reason: 'manual' }, ignore, ignore)
    if (random.chance(0.1)) hub.execute({ kind: 'keepSession', job: seq }, ignore, ignore)
    const [claim] = places.values()
    if (claim !== undefined && random.chance(0.1))
      hub.execute({ kind: 'cancel', job: claim.job, by: 'a client' }, ignore, ignore)
  }

  #session(isPreset: boolean): JobSpec {
    const { random, hasGpus } = this.#ports
    const [concurrency, queue] = [random.between(1, 3), random.pick([0, 2, 5, 30])]
    const [idleMs, lifetimeMs] = [random.pick([2_000, 8_000]), random.pick([20_000, 60_000])]
    return {
      ...PLAIN,
      ...{ name: 'session', type: 'command', command: 'simulated' },
      input: { runMs: random.pick([500, 5_000]), failures: random.int(3), outBytes: 0 },
      resources: { ...PLAIN.resources, gpus: hasGpus && random.chance(0.3) ? 1 : 0 },
      retries: { ...PLAIN.retries, max: random.int(3) },
      preset: isPreset || random.chance(0.5) ? PRESET : null,
      session: { concurrency, queue, idleMs, lifetimeMs },
    }
  }

  #task(task: NonNullable<JobSpec['task']>, isQuick: boolean): JobSpec {
    const { random } = this.#ports
    return {
      ...PLAIN,
      ...{ name: 'task', type: 'task', task },
      input: {
        runMs: random.pick(isQuick && random.chance(0.95) ? [0, 2, 10] : [0, 10, 300, 3_000]),
        outBytes: random.pick([0, 100, 3_000]),
        failures: 0,
      },
      resources: { ...PLAIN.resources, cpus: 0 },
      priority: random.pick([0, 0, 5]),
      timeoutMs: random.chance(0.05) ? 1_000 : null,
      lostAfterMs: random.chance(0.1) ? random.between(2, 30) * 1000 : null,
    }
  }

  /** Whether it was heard does not matter: who is refused tries something else. */
  #submit(specs: readonly JobSpec[]): void {
    const jobs = specs.map((spec): NewJob => {
      this.#lastId += 1
      const id = `00000000-0000-7000-a000-${this.#lastId.toString(16).padStart(12, '0')}`
      return { id, spec, specText: writeSpec(spec), retryOf: null }
    })
    const command: Command = { kind: 'submit', owner: 'anna', jobs, key: null, failFast: false }
    this.#ports.hub.execute(command, ignore, ignore)
  }
}

function ignore(): void {}
