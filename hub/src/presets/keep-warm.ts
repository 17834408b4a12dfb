import type { Log } from '@stoker/files'
import { type Change, parseJobSpec, Refused } from '@stoker/protocol'
import type { EngineLoop } from '../engine/loop.ts'
import { newJobs } from '../engine/new-jobs.ts'
import type { Queries } from '../store/port.ts'
import type { CheckSpec, Preset, PresetBook } from './preset.ts'
import { presetSpec } from './preset-spec.ts'
import { isSameProgram } from './same-program.ts'
import { sessionsWanted } from './sessions-wanted.ts'
import type { Settings } from './settings.ts'
import { StartFailures } from './start-failures.ts'
import { type KnownSession, PRESETS_OWNER, queuedFor, WarmLedger } from './warm-ledger.ts'

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
  readonly check: CheckSpec
  /** Null while there is room for new work. */
  readonly diskGuard: () => object | null
}

/** How the sessions of a preset are doing. */
interface Warmth {
  readonly live: number
  /** Why the last one that was started failed; null once one has come up. */
  readonly lastError: string | null
  /** When the next one is started after failures. */
  readonly nextStartAt: number | null
}

export type WarmthOf = (preset: string) => Warmth

/**
 * Starts sessions of presets: as many as shall always be there, and more when tasks wait. Ends those whose preset is
 * another one by now. All that it decides by is in the engine, so a restarted hub goes on where the last one was.
 */
export class KeepWarm {
  readonly #ports: KeepWarmPorts
  readonly #failures = new StartFailures()
  readonly #ledger = new WarmLedger()
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
    const cameUp = await this.#ports.engine.read(state => this.#ledger.noteReady(state))
    for (const preset of cameUp) this.#failures.forget(preset)
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

  readonly warmthOf: WarmthOf = preset => ({
    live: this.#ledger.countOf(preset),
    ...this.#failures.of(preset, this.#ports.now()),
  })

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopListening()
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#looking
  }

  #concerns(): boolean {
    return this.#ledger.size > 0 || [...this.#book.presets.values()].some(({ type }) => type === 'session')
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
        this.#noteEnd(change.job, change.next, change.reason ?? null)
      if (change.c === 'ended') this.#noteEnd(change.job, change.state, change.reason)
    }
    if (changes.some(({ c }) => c === 'submitted' || c === 'attemptEnded' || c === 'ended')) this.#soon()
  }

  #noteEnd(seq: number, end: string, reason: string | null): void {
    const known = this.#ledger.take(seq)
    if (known === undefined) return
    const isEarly = reason === 'worker_exited' && !known.wasReady
    if (end !== 'failed' && end !== 'timed_out' && !isEarly) return
    const error = isEarly ? 'its program ended before it was ready' : (reason ?? end)
    this.#failures.failed(known.preset, error, this.#ports.now())
    this.#ports.log('warn', `presets: a session of ${known.preset} failed: ${error}`)
  }

  #soon(): void {
    if (this.#timer !== null || this.#isClosed || !this.#concerns()) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.look().catch(error => this.#ports.log('warn', `presets: sessions wait for the next look: ${error}`))
    }, GATHER_MS)
  }

  async #lookOn(): Promise<void> {
    const { engine, queries } = this.#ports
    do {
      this.#isAskedAgain = false
      this.#lookedAt = this.#ports.now()
      await this.#ledger.learn(engine, queries)
      const { presets } = this.#book
      const [live, queued] = await engine.read(
        state => [this.#ledger.live(state, known => this.#isOld(known)), queuedFor(state, presets.keys())] as const,
      )
      const resting = this.#failures.resting(this.#ports.now())
      const { starts, outdated, kept } = sessionsWanted(presets.values(), live, queued, resting)
      for (const job of outdated) await this.#ask({ kind: 'outdateSession', job })
      for (const job of kept) await this.#ask({ kind: 'keepSession', job })
      for (const [name, count] of starts) await this.#start(name, count)
    } while (this.#isAskedAgain && !this.#isClosed)
  }

  #isOld({ preset: name, spec, isOurs }: KnownSession): boolean {
    const preset = this.#book.presets.get(name)
    if (preset === undefined) return this.#ports.now() - this.#bookSince >= SETTLED_MS
    const fresh = this.#specOf(preset)
    return 'spec' in fresh && !isSameProgram(spec, fresh.spec, isOurs)
  }

  #specOf(preset: Preset): ReturnType<CheckSpec> {
    const parsed = parseJobSpec(presetSpec(preset, this.#ports.settings, { as: 'session' }))
    return parsed.ok ? this.#ports.check(parsed.spec) : parsed
  }

  async #start(name: string, count: number): Promise<void> {
    const { engine, newId, diskGuard, log } = this.#ports
    const preset = this.#book.presets.get(name)
    if (preset === undefined || diskGuard() !== null || this.#isClosed) return
    const made = this.#specOf(preset)
    if ('issues' in made) {
      const [issue] = made.issues
      this.#failures.failed(name, `${issue?.path}: ${issue?.message}`, this.#ports.now())
      return
    }
    const { spec } = made
    const { jobs } = newJobs([{ specs: Array.from({ length: count }, () => spec), group: null }], newId)
    const submit = { kind: 'submit', owner: PRESETS_OWNER, jobs, groups: [], key: null, failFast: false } as const
    try {
      const { firstSeq } = await engine.execute(submit)
      for (let i = 0; i < count; i += 1) this.#ledger.add(firstSeq + i, name, spec)
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
