import type { Preset } from './preset.ts'

/** A session made from a preset that has not ended. */
export interface LiveSession {
  readonly seq: number
  readonly preset: string
  readonly concurrency: number
  /** Tasks in its places. */
  readonly busy: number
  /** It was asked to leave, or will leave when it has nothing to do. */
  readonly isLeaving: boolean
  /** The preset has changed since, or is gone. */
  readonly isOld: boolean
}

interface Wanted {
  /** How many sessions to start, by preset. */
  readonly starts: ReadonlyMap<string, number>
  readonly outdated: readonly number[]
  /** Sessions that are kept though nothing is asked of them. */
  readonly kept: readonly number[]
}

/**
 * What should be done about the sessions of presets. Every live one counts, whatever its state and whoever started it,
 * so asking again before the answer has no effect twice, and there are never more than `max`.
 */
export function sessionsWanted(
  presets: Iterable<Preset>,
  live: readonly LiveSession[],
  queued: ReadonlyMap<string, number>,
  /** Presets whose sessions failed lately: nothing is started for them now. */
  resting: ReadonlySet<string>,
): Wanted {
  const starts = new Map<string, number>()
  const kept: number[] = []
  for (const preset of presets) {
    const { name, type, session } = preset
    if (type !== 'session') continue
    const own = live.filter(one => one.preset === name)
    const usable = own.filter(one => !one.isLeaving && !one.isOld)
    kept.push(...mostUsed(usable, session.min))
    const room = Math.max(0, session.max - own.length)
    const count = Math.min(room, missing(preset, usable, queued.get(name) ?? 0))
    if (count > 0 && !resting.has(name)) starts.set(name, count)
  }
  return { starts, kept, outdated: live.filter(one => one.isOld && !one.isLeaving).map(({ seq }) => seq) }
}

/** A session that is still starting will have all its places: it is not asked for twice. */
function missing({ session }: Preset, usable: readonly LiveSession[], queued: number): number {
  const free = usable.reduce((sum, { concurrency, busy }) => sum + Math.max(0, concurrency - busy), 0)
  const forTasks = Math.ceil(Math.max(0, queued - free) / session.concurrency)
  return Math.max(session.min - usable.length, forTasks, 0)
}

/** Busy ones are kept by their tasks anyway. */
function mostUsed(usable: readonly LiveSession[], min: number): number[] {
  return [...usable]
    .sort((a, b) => b.busy - a.busy || a.seq - b.seq)
    .slice(0, min)
    .map(({ seq }) => seq)
}
