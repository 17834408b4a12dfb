import type { Log } from '@stoker/files'
import { type Change, type JobSpec, parseJobSpec, Refused, readSpec, taskTarget } from '@stoker/protocol'
import type { EngineLoop } from '../engine/loop.ts'
import { newJobs } from '../engine/new-jobs.ts'
import type { State } from '../engine/state.ts'
import type { Queries } from '../store/port.ts'
import type { Preset, PresetBook } from './preset.ts'
import { presetSpec } from './preset-spec.ts'
import { isSameProgram } from './same-program.ts'
import { type LiveSession, sessionsWanted } from './sessions-wanted.ts'
import type { Settings } from './settings.ts'
import { StartFailures } from './start-failures.ts'

/** Whose the sessions are that the hub starts itself: they can be limited like those of any owner. */
export const PRESETS_OWNER = 'presets'
/** Tasks that come together are looked at together. */
const GATHER_MS = 10
/** A preset that vanished may be in an editor that writes its file in parts. */
const SETTLED_MS = 2000

export interface KeepWarmPorts {
  readonly engine: Pick<EngineLoop, 'execute' | 'read' | 'onCommit'>
  readonly queries: Pick<Queries, 'jobsBySeq'>
  readonly settings: Settings
  readonly newId: () => string
  readonly now: () => number
  readonly log: Log
  /** Null while there is room for new work. */
  readonly diskGuard: () => object | null
}

/** How the sessions of a preset are doing. */
export interface Warmth {
  readonly live: number
  /** Why the last one that was started failed; null once one has come up. */
  readonly lastError: string | null
  /** When the next one is started after failures. */
  readonly nextStartAt: number | null
}

export type WarmthOf = (preset: string) => Warmth

interface Known {
  readonly preset: string
  readonly spec: JobSpec
  readonly isOurs: boolean
  wasReady: boolean
}

/**
 * Starts sessions of presets: as many as shall always be there, and more when tasks wait. Ends those whose preset is
 * another one by now. All that it decides by is in the engine, so a restarted hub goes on where the last one was.
 */
export class KeepWarm {
  readonly #ports: KeepWarmPorts
  readonly #failures = new StartFailures()
  readonly #known = new Map<number, Known>()
  readonly #stopListening: () => void
  #book: PresetBook
  #bookSince = Number.NEGATIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> | null = null
  #isAskedAgain = false
  #isClosed = false

  constructor(ports: KeepWarmPorts, book: PresetBook) {
    this.#ports = ports
    this.#book = book
    this.#stopListening = ports.engine.onCommit(({ changes }) => this.#hear(changes))
  }

  /** Edited presets: the next sessions are of them. */
  take(book: PresetBook): void {
    for (const [name, preset] of book.presets)
      if (JSON.stringify(this.#book.presets.get(name)) !== JSON.stringify(preset)) this.#failures.forget(name)
    this.#book = book
    this.#bookSince = this.#ports.now()
    this.#soon()
  }

  /** Called every second: looks when it is time to, and keeps in mind who has come up. */
  async tick(): Promise<void> {
    if (!this.#concerns()) return
    await this.#ports.engine.read(state => this.#noteReady(state))
    const now = this.#ports.now()
    if (now - this.#lookedAt >= this.#everyMs() || this.#hasNews(now)) await this.look()
  }

  /** One look at a time; whoever asks meanwhile gets one more. */
  look(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#isAskedAgain = this.#looking !== null
    this.#looking ??= this.#lookOn().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  warmthOf: WarmthOf = preset => {
    const live = [...this.#known.values()].filter(one => one.preset === preset).length
    return { live, ...this.#failures.of(preset, this.#ports.now()) }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopListening()
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#looking
  }

  #concerns(): boolean {
    return this.#known.size > 0 || [...this.#book.presets.values()].some(({ type }) => type === 'session')
  }

  /** Sessions that are always there are touched before they count as idle. */
  #everyMs(): number {
    const kept = [...this.#book.presets.values()].filter(({ type, session }) => type === 'session' && session.min > 0)
    return Math.min(this.#ports.settings.sessionMonitorMs, ...kept.map(({ session }) => session.idleMs / 3))
  }

  /** A rest is over, or a preset is gone for good. */
  #hasNews(now: number): boolean {
    const isSettled = this.#bookSince + SETTLED_MS
    const wasResting = this.#failures.resting(this.#lookedAt).size > this.#failures.resting(now).size
    return wasResting || (this.#lookedAt < isSettled && isSettled <= now)
  }

  #hear(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.c === 'attemptEnded' && change.next !== 'queued' && change.next !== 'waiting')
        this.#noteEnd(change.job, change.next, change.reason)
      if (change.c === 'ended') this.#noteEnd(change.job, change.state, change.reason)
    }
    if (changes.some(({ c }) => c === 'submitted' || c === 'attemptEnded' || c === 'ended')) this.#soon()
  }

  #noteEnd(seq: number, end: string, reason: string | null): void {
    const known = this.#known.get(seq)
    if (known === undefined) return
    this.#known.delete(seq)
    const isEarly = reason === 'worker_exited' && !known.wasReady
    if (end !== 'failed' && end !== 'timed_out' && !isEarly) return
    const error = isEarly ? 'its program ended before it was ready' : (reason ?? end)
    this.#failures.failed(known.preset, error, this.#ports.now())
    this.#ports.log('warn', `presets: a session of ${known.preset} failed: ${error}`)
  }

  #noteReady(state: State): void {
    for (const [seq, known] of this.#known) {
      if (known.wasReady || (state.sessions.get(seq)?.readyAt ?? null) === null) continue
      known.wasReady = true
      this.#failures.forget(known.preset)
    }
  }

  #soon(): void {
    if (this.#timer !== null || this.#isClosed || !this.#concerns()) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.look().catch(error => this.#ports.log('warn', `presets: sessions wait for the next look: ${error}`))
    }, GATHER_MS)
  }

  async #lookOn(): Promise<void> {
    do {
      this.#isAskedAgain = false
      this.#lookedAt = this.#ports.now()
      await this.#learn()
      const { live, queued } = await this.#ports.engine.read(state => this.#seen(state))
      const resting = this.#failures.resting(this.#ports.now())
      const { starts, outdated, kept } = sessionsWanted(this.#book.presets.values(), live, queued, resting)
      for (const job of outdated) await this.#ask({ kind: 'outdateSession', job })
      for (const job of kept) await this.#ask({ kind: 'keepSession', job })
      for (const [name, count] of starts) await this.#start(name, count)
    } while (this.#isAskedAgain && !this.#isClosed)
  }

  /** Sessions that others started, or that were there before this hub: their specs say what they were made from. */
  async #learn(): Promise<void> {
    const { engine, queries } = this.#ports
    const seqs = await engine.read(({ sessions }) => {
      for (const seq of this.#known.keys()) if (!sessions.has(seq)) this.#known.delete(seq)
      return [...sessions.values()].filter(({ seq, terms }) => terms.preset !== null && !this.#known.has(seq))
    })
    const rows = await queries.jobsBySeq(seqs.map(({ seq }) => seq))
    for (const { seq, owner, spec: text } of rows) {
      const spec = readSpec(text)
      const isOurs = owner === PRESETS_OWNER
      if (spec.preset !== null) this.#known.set(seq, { preset: spec.preset, spec, isOurs, wasReady: false })
    }
  }

  #seen(state: State): { readonly live: readonly LiveSession[]; readonly queued: ReadonlyMap<string, number> } {
    const live = [...this.#known].flatMap(([seq, known]): LiveSession[] => {
      const session = state.sessions.get(seq)
      if (session === undefined) return []
      const active = state.active.get(seq)
      const isLeaving =
        session.endsBy !== null || (active !== undefined && (session.isOutdated || active.cancelBy !== null))
      const { concurrency } = session.terms
      const { preset } = known
      return [{ seq, preset, concurrency, busy: session.places.size, isLeaving, isOld: this.#isOld(known) }]
    })
    const queued = [...this.#book.presets.keys()].map(
      preset => [preset, state.targets.get(taskTarget({ session: null, preset }))?.queued ?? 0] as const,
    )
    return { live, queued: new Map(queued) }
  }

  #isOld({ preset: name, spec, isOurs }: Known): boolean {
    const preset = this.#book.presets.get(name)
    if (preset === undefined) return this.#ports.now() - this.#bookSince >= SETTLED_MS
    const fresh = this.#specOf(preset)
    return fresh !== null && !isSameProgram(spec, fresh, isOurs)
  }

  #specOf(preset: Preset): JobSpec | null {
    const parsed = parseJobSpec(presetSpec(preset, this.#ports.settings, { as: 'session' }))
    return parsed.ok ? parsed.spec : null
  }

  async #start(name: string, count: number): Promise<void> {
    const { engine, newId, diskGuard, log } = this.#ports
    const preset = this.#book.presets.get(name)
    const spec = preset === undefined ? null : this.#specOf(preset)
    if (spec === null || diskGuard() !== null || this.#isClosed) return
    const { jobs } = newJobs([{ specs: Array.from({ length: count }, () => spec), group: null }], newId)
    const submit = { kind: 'submit', owner: PRESETS_OWNER, jobs, groups: [], key: null, failFast: false } as const
    try {
      const { firstSeq } = await engine.execute(submit)
      for (let i = 0; i < count; i += 1)
        this.#known.set(firstSeq + i, { preset: name, spec, isOurs: true, wasReady: false })
      log('info', `presets: ${count} ${count === 1 ? 'session' : 'sessions'} of ${name} started`)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.#failures.failed(name, error.message, this.#ports.now())
    }
  }

  /** What ended meanwhile needs no word. */
  async #ask(command: { readonly kind: 'outdateSession' | 'keepSession'; readonly job: number }): Promise<void> {
    try {
      await this.#ports.engine.execute(command)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
    }
  }
}
