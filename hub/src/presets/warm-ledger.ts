import { type JobSpec, readSpec, taskTarget } from '@stoker/protocol'
import type { EngineLoop } from '../engine/loop.ts'
import type { State } from '../engine/state.ts'
import type { Queries } from '../store/port.ts'
import type { LiveSession } from './sessions-wanted.ts'

/** Whose the sessions are that the hub starts itself: they can be limited like those of any owner. */
export const PRESETS_OWNER = 'presets'

/** A live session of a preset, with what it was made from. */
export interface KnownSession {
  readonly preset: string
  readonly spec: JobSpec
  /** The hub started it; what others started may differ from the preset in what they said. */
  readonly isOurs: boolean
  wasReady: boolean
}

/** The live sessions of presets: the engine says which there are, their rows what they were made from. */
export class WarmLedger {
  readonly #known = new Map<number, KnownSession>()

  get size(): number {
    return this.#known.size
  }

  countOf(preset: string): number {
    return [...this.#known.values()].filter(one => one.preset === preset).length
  }

  add(seq: number, preset: string, spec: JobSpec): void {
    this.#known.set(seq, { preset, spec, isOurs: true, wasReady: false })
  }

  take(seq: number): KnownSession | undefined {
    const known = this.#known.get(seq)
    this.#known.delete(seq)
    return known
  }

  /** Finds sessions that others started, or that were there before this hub, and forgets what is gone. */
  async learn(engine: Pick<EngineLoop, 'read'>, queries: Pick<Queries, 'jobsBySeq'>): Promise<void> {
    const fresh = await engine.read(({ sessions }) => {
      for (const seq of this.#known.keys()) if (!sessions.has(seq)) this.#known.delete(seq)
      return [...sessions.values()].filter(({ seq, terms }) => terms.preset !== null && !this.#known.has(seq))
    })
    if (fresh.length === 0) return
    for (const { seq, owner, spec: text } of await queries.jobsBySeq(fresh.map(({ seq }) => seq))) {
      const spec = readSpec(text)
      const isOurs = owner === PRESETS_OWNER
      if (spec.preset !== null) this.#known.set(seq, { preset: spec.preset, spec, isOurs, wasReady: false })
    }
  }

  /** The presets of sessions that have come up since the last time. */
  noteReady(state: State): readonly string[] {
    return [...this.#known].flatMap(([seq, known]) => {
      if (known.wasReady || (state.sessions.get(seq)?.readyAt ?? null) === null) return []
      known.wasReady = true
      return [known.preset]
    })
  }

  live(state: State, isOld: (known: KnownSession) => boolean): readonly LiveSession[] {
    return [...this.#known].flatMap(([seq, known]): LiveSession[] => {
      const session = state.sessions.get(seq)
      if (session === undefined) return []
      const active = state.active.get(seq)
      const isAsked = active !== undefined && (session.isOutdated || active.cancelBy !== null)
      return [
        {
          seq,
          preset: known.preset,
          concurrency: session.terms.concurrency,
          busy: session.places.size,
          isLeaving: session.endsBy !== null || isAsked,
          isOld: isOld(known),
        },
      ]
    })
  }
}

/** How many tasks wait for sessions of each preset. */
export function queuedFor(state: State, presets: Iterable<string>): ReadonlyMap<string, number> {
  const queued = new Map<string, number>()
  for (const preset of presets)
    queued.set(preset, state.targets.get(taskTarget({ session: null, preset }))?.queued ?? 0)
  return queued
}
