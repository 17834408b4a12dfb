import { type JobSpec, NO_LIMITS, writeSpec } from '@stoker/protocol'
import type { Command, NewJob } from '../../hub/src/engine/commands.ts'
import type { SimHub } from './hub/sim-hub.ts'
import type { Random } from './world/random.ts'
import type { Timeline } from './world/timeline.ts'

export interface HouseRulesPorts {
  readonly timeline: Timeline
  readonly random: Random
  readonly hub: SimHub
  readonly maxGpus: number
  readonly hasSchedule: boolean
  /** After this nothing new begins. */
  readonly endMs: number
  readonly job: () => JobSpec
}

const OWNER = 'anna'
const SCHEDULE = 'schedule-1'

/** What an owner is subject to besides their jobs: limits that come and go, and a schedule that fires by a fixed period. */
export class HouseRules {
  readonly #ports: HouseRulesPorts
  readonly #periodMs: number
  #isOver = false
  #lastId = 0

  constructor(ports: HouseRulesPorts) {
    this.#ports = ports
    this.#periodMs = ports.random.pick([2_000, 5_000, 11_000])
  }

  /** No schedule is left that would go on firing. */
  get isDone(): boolean {
    return this.#isOver && this.#ports.hub.state?.schedules.size === 0
  }

  start(): void {
    const { timeline, random, maxGpus, hasSchedule, endMs } = this.#ports
    if (random.chance(0.5)) {
      const gpus = random.chance(0.5) ? Math.max(1, maxGpus) : null
      const limits = { ...NO_LIMITS, running: random.between(2, 8), gpus, queued: random.pick([null, 8, 30]) }
      this.#ask({ kind: 'setLimits', owner: OWNER, limits })
      if (random.chance(0.5))
        timeline.in(random.next() * endMs, () => this.#ask({ kind: 'setLimits', owner: OWNER, limits: NO_LIMITS }))
    }
    if (hasSchedule) this.#ask(this.#schedule())
    this.#look()
    timeline.in(endMs, () => {
      this.#isOver = true
    })
  }

  #schedule(): Command {
    const { random, hub } = this.#ports
    const wall = hub.wall ?? 0
    return {
      kind: 'putSchedule',
      ...{ id: SCHEDULE, owner: OWNER, name: 'often', cron: 'simulated', timezone: 'UTC', spec: '{}', enabled: true },
      overlap: random.pick(['allow', 'skip', 'replace'] as const),
      catchUp: random.pick(['none', 'one'] as const),
      nextAt: this.#next(wall),
    }
  }

  #next(after: number): number {
    return (Math.floor(after / this.#periodMs) + 1) * this.#periodMs
  }

  /** Looks every second, as the hub does; twice in one second is harmless. */
  #look(): void {
    const { timeline, hub } = this.#ports
    const schedule = hub.state?.schedules.get(SCHEDULE)
    const wall = hub.wall
    if (this.#isOver && schedule !== undefined) hub.execute({ kind: 'removeSchedule', id: SCHEDULE }, ignore, ignore)
    else if (schedule !== undefined && wall !== null && schedule.nextAt !== null && schedule.nextAt <= wall) {
      const fire = this.#fire(schedule.nextAt, wall)
      hub.execute(fire, ignore, ignore)
      hub.execute(fire, ignore, ignore)
    }
    if (!this.isDone) timeline.in(1000, () => this.#look())
  }

  #fire(dueAt: number, wall: number): Command {
    const spec = this.#ports.job()
    this.#lastId += 1
    const id = `00000000-0000-7000-9000-${this.#lastId.toString(16).padStart(12, '0')}`
    const job: NewJob = { id, spec, specText: writeSpec(spec), retryOf: null }
    const next = { dueAt, nextAt: this.#next(Math.max(dueAt, wall)), missed: null, refused: null }
    return { kind: 'fire', schedule: SCHEDULE, jobs: [job], groups: [], ...next }
  }

  /** Until it is answered: each of these may be asked twice. */
  #ask(command: Command): void {
    const { timeline, hub } = this.#ports
    const again = { isNeeded: true }
    const answered = () => {
      again.isNeeded = false
    }
    hub.execute(command, answered, ignore)
    timeline.in(3_000, () => {
      if (again.isNeeded && !(this.#isOver && command.kind === 'putSchedule')) this.#ask(command)
    })
  }
}

function ignore(): void {}
