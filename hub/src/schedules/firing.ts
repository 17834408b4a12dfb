import { type FireOutcome, Refused, type ScheduleRow } from '@stoker/protocol'
import type { EngineLoop } from '../engine/loop.ts'
import { newJobs } from '../engine/new-jobs.ts'
import type { ScheduleState } from '../engine/schedules.ts'
import { withPresetQueues } from '../presets/expand-preset.ts'
import type { Queries } from '../store/port.ts'
import { nextTime, timesBetween } from './cron-times.ts'
import { expandWritten, type SpecBooks } from './expand-written.ts'

/** A run that starts within this is on time: a restart or a busy moment is no reason to leave it out. */
const LATE_MS = 60_000
const MOST_COUNTED = 1000
const MOST_LABELS = 32

export interface FiringPorts extends SpecBooks {
  readonly engine: Pick<EngineLoop, 'execute' | 'read'>
  readonly queries: Pick<Queries, 'schedule'>
  readonly now: () => number
  readonly newId: () => string
  /** Null while there is room for new work. */
  readonly diskGuard: () => { readonly freeBytes: number; readonly neededBytes: number } | null
}

/** Meets due times: computes what the engine may not know (the clock, the next time, ids) and asks it to fire. Harmless to repeat. */
export class Firing {
  readonly #ports: FiringPorts
  #isLooking = false

  constructor(ports: FiringPorts) {
    this.#ports = ports
  }

  /** Called every second. */
  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const now = this.#ports.now()
      for (const schedule of await this.#ports.engine.read(state => dueAmong(state.schedules.values(), now)))
        await this.#meet(schedule, schedule.nextAt, now)
    } finally {
      this.#isLooking = false
    }
  }

  /** Runs a schedule now, whether it is due, paused or neither. */
  async run(schedule: ScheduleState): Promise<void> {
    const made = await this.#prepare(schedule)
    if (made.refused !== null) throw new Refused('spec.invalid', made.refused)
    const ask = { kind: 'fire', schedule: schedule.id, dueAt: null, nextAt: null, missed: null } as const
    await this.#ports.engine.execute({ ...ask, ...made })
  }

  async #meet(schedule: ScheduleState, dueAt: number, now: number): Promise<FireOutcome | null> {
    const { id, cron, timezone } = schedule
    const nextAt = nextTime(cron, timezone, Math.max(now, dueAt))
    const missed = missedText(schedule, dueAt, now)
    const made = missed === null ? await this.#prepare(schedule) : NOTHING
    const { outcome } = await this.#ports.engine.execute({ kind: 'fire', schedule: id, dueAt, nextAt, missed, ...made })
    return outcome
  }

  async #prepare({ id, name }: ScheduleState) {
    const row = await this.#ports.queries.schedule(id)
    const shortage = this.#ports.diskGuard()
    if (row === null) return { ...NOTHING, refused: 'its spec is gone' }
    if (shortage !== null)
      return { ...NOTHING, refused: `${shortage.freeBytes} bytes are free, new work needs ${shortage.neededBytes}` }
    const expansion = await expandWritten(labelled(row, name), this.#ports, nextTurn)
    if (expansion.ok) {
      const { jobs, groups } = newJobs([expansion.expanded], this.#ports.newId)
      return { jobs: await withPresetQueues(jobs, this.#ports.presets), groups, refused: null }
    }
    const [first] = expansion.issues
    return { ...NOTHING, refused: `${first?.path}: ${first?.message}` }
  }
}

const NOTHING = { jobs: [], groups: [], refused: null }

type Due = ScheduleState & { readonly nextAt: number }

function dueAmong(schedules: Iterable<ScheduleState>, now: number): Due[] {
  return [...schedules].filter((one): one is Due => one.enabled === 1 && one.nextAt !== null && one.nextAt <= now)
}

/** A late run is made up for once, or not at all. */
function missedText({ cron, timezone, catchUp }: ScheduleState, dueAt: number, now: number): string | null {
  if (catchUp === 'one' || now - dueAt <= LATE_MS) return null
  const times = 1 + timesBetween(cron, timezone, dueAt, now, MOST_COUNTED)
  const many = times === 1 ? 'one time' : `${times > MOST_COUNTED ? `more than ${MOST_COUNTED}` : times} times`
  return `${many} from ${new Date(dueAt).toISOString()} on passed while the hub was away; catchUp is "none"`
}

/** Jobs of a schedule can be listed by its name. */
function labelled({ spec }: ScheduleRow, name: string): unknown {
  const written: { readonly labels?: Readonly<Record<string, string>> } = JSON.parse(spec)
  const labels = written.labels ?? {}
  if ('schedule' in labels || Object.keys(labels).length >= MOST_LABELS) return written
  return { ...written, labels: { ...labels, schedule: name } }
}

/** A spec takes some 10 µs to parse: others get their turn after a few milliseconds. */
async function nextTurn(done: number): Promise<void> {
  if (done % 250 === 0) await new Promise(setImmediate)
}
