import type { Launcher, Running } from './launch.ts'
import { Listener } from './listener.ts'
import type { Heard, Limits, Observation, RunKind } from './observation.ts'

export interface ObserveWish {
  readonly kind: RunKind
  /** Of a session; `stop` and `once` take none or the one that opens a session. */
  readonly tasks: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly limits: Limits
  readonly clock: () => number
  readonly onHeard: (heard: Heard) => void
  /** The person does not want to know any more. */
  readonly abandoned: AbortSignal
}

const NAP_CHECK_MS = 20

/**
 * One run from start to end. A session gets its first task at once and the next one after each finish, then the end of
 * stdin. Whatever happens it ends: what is asked to end and does not within the grace is killed.
 */
export async function observe(launcher: Launcher, wish: ObserveWish): Promise<Observation> {
  const run = new ObservedRun(wish)
  const running = await launcher.start({
    env: wish.env,
    terminal: wish.kind === 'terminal',
    onBytes: (stream, bytes) => run.take(stream, bytes),
  })
  return run.follow(running)
}

class ObservedRun {
  readonly #wish: ObserveWish
  #startedAt: number | null = null
  readonly #listener = new Listener()
  #running: Running | null = null
  #timers: NodeJS.Timeout[] = []
  #finishes = 0
  #tasksSent = 0
  #hasTimedOut = false
  #inputEndedAtMs: number | null = null
  #askedAtMs: number | null = null
  #wasKilled = false
  #awakeAt = 0
  #longestNapMs = 0

  constructor(wish: ObserveWish) {
    this.#wish = wish
  }

  take(stream: 'stdout' | 'stderr', bytes: Uint8Array | null): void {
    const fresh = this.#listener.take(stream, bytes, this.#sinceMs())
    for (const heard of fresh) this.#wish.onHeard(heard)
    this.#finishes += fresh.filter(one => one.isEvent && one.said.event === 'finish').length
    this.#goOn(fresh)
  }

  async follow(running: Running): Promise<Observation> {
    this.#running = running
    this.#startedAt = this.#awakeAt = this.#wish.clock()
    const abandon = () => running.signal('kill')
    this.#wish.abandoned.addEventListener('abort', abandon, { once: true })
    if (this.#wish.abandoned.aborted) abandon()
    this.#after(this.#wish.limits.timeoutMs, () => this.#onDeadline())
    const naps = setInterval(() => this.#noteNap(), NAP_CHECK_MS)
    try {
      this.#feed()
      this.#goOn(this.#listener.heard)
      const end = await running.ended
      const endedAtMs = this.#sinceMs()
      this.#noteNap()
      for (const stream of ['stdout', 'stderr'] as const) this.take(stream, null)
      return { ...end, ...this.#facts(), endedAtMs }
    } finally {
      clearInterval(naps)
      for (const timer of this.#timers) clearTimeout(timer)
      this.#wish.abandoned.removeEventListener('abort', abandon)
    }
  }

  #facts() {
    return {
      kind: this.#wish.kind,
      heard: this.#listener.heard,
      hasTimedOut: this.#hasTimedOut,
      tasksSent: this.#tasksSent,
      inputEndedAtMs: this.#inputEndedAtMs,
      askedAtMs: this.#askedAtMs,
      wasKilled: this.#wasKilled,
      longestNapMs: this.#longestNapMs,
    }
  }

  /** What the new lines call for: the next task, the end of stdin, or, where that is looked at, the request to end. */
  #goOn(fresh: readonly Heard[]): void {
    if (this.#running === null || fresh.length === 0) return
    if (this.#wish.kind === 'stop') {
      if (fresh.some(one => this.#isUnderWay(one))) this.#askToEnd()
    } else if (this.#tasksSent > 0 && this.#finishes >= this.#tasksSent) this.#feed()
  }

  #feed(): void {
    const next = this.#wish.tasks[this.#tasksSent]
    if (next !== undefined) {
      this.#tasksSent += 1
      this.#running?.write(`${next}\n`)
    } else if (this.#inputEndedAtMs === null) {
      this.#inputEndedAtMs = this.#sinceMs()
      this.#running?.endInput()
      if (this.#tasksSent > 0) this.#after(this.#wish.limits.graceMs, () => this.#kill())
    }
  }

  /** A session is asked when it is ready, so that its loading is over; another program as soon as it speaks. */
  #isUnderWay({ isEvent, said, stream }: Heard): boolean {
    if (this.#wish.tasks.length === 0) return stream === 'stdout'
    if (!isEvent) return false
    return said.event === 'finish' || (said.event === 'worker' && isReady(said.fields.status))
  }

  #onDeadline(): void {
    this.#hasTimedOut = true
    this.#askToEnd()
  }

  #askToEnd(): void {
    if (this.#askedAtMs !== null) return
    this.#askedAtMs = this.#sinceMs()
    this.#running?.signal('end')
    this.#after(this.#wish.limits.graceMs, () => this.#kill())
  }

  #kill(): void {
    this.#wasKilled = true
    this.#running?.signal('kill')
  }

  #after(ms: number, then: () => void): void {
    this.#timers.push(setTimeout(then, ms))
  }

  #noteNap(): void {
    const now = this.#wish.clock()
    this.#longestNapMs = Math.max(this.#longestNapMs, now - this.#awakeAt - NAP_CHECK_MS)
    this.#awakeAt = now
  }

  /** What came before the start was known came with it: making a container is not the program's time. */
  #sinceMs(): number {
    return this.#startedAt === null ? 0 : this.#wish.clock() - this.#startedAt
  }
}

export function isReady(status: unknown): boolean {
  return status === 'ready' || status === 'waiting'
}
