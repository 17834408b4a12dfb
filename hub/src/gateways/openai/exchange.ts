import type { JobRow } from '@stoker/protocol'
import { Bell } from '../../serving/bell.ts'
import type { JobWatch } from '../../serving/job-watch.ts'
import { PING_MS } from '../../serving/sse.ts'
import type { Answer } from './answer.ts'
import { cancelWaiting, lateBy, type Request } from './asked.ts'
import type { OpenAiContext } from './context.ts'
import { followAnswer } from './follow-answer.ts'

/** So long a stream's status stays open: what fails at once fails with a real one. */
const FIRST_QUIET_MS = 1000
const LONGEST_TIMER_MS = 2 ** 31 - 1

export type ExchangeNews =
  | { readonly kind: 'delta'; readonly index: number; readonly text: string }
  | { readonly kind: 'end'; readonly index: number; readonly answer: Answer }
  | { readonly kind: 'quiet' }

export interface ExchangePorts {
  readonly context: OpenAiContext
  readonly watch: JobWatch
  /** Given when the hub stops. */
  readonly stopping: AbortSignal
}

/**
 * One request on its way. All its tasks are followed to their ends whether anyone still reads or not, so that what they
 * used is counted; what waits to be read is at most their answers, which are bounded.
 */
export class Exchange {
  readonly #ports: ExchangePorts
  readonly #request: Request
  readonly #rows: readonly JobRow[]
  readonly #bell = new Bell()
  readonly #late: NodeJS.Timeout
  #news: ExchangeNews[] = []
  #open: number
  #failure: { readonly error: unknown } | null = null
  #isLate = false
  #isLeft = false

  constructor(ports: ExchangePorts, request: Request, rows: readonly JobRow[]) {
    this.#ports = ports
    this.#request = request
    this.#rows = rows
    this.#open = rows.length
    const { timeoutMs } = request.preset
    this.#late = setTimeout(() => this.#becomeLate(), Math.min(timeoutMs, LONGEST_TIMER_MS)).unref()
    for (const [index, row] of rows.entries()) void this.#follow(index, row)
  }

  /** Everything that is learned, until all tasks have answered; throws when one of them cannot. */
  async *news(): AsyncGenerator<ExchangeNews, void> {
    let quietMs = FIRST_QUIET_MS
    while (true) {
      const news = this.#news
      this.#news = []
      yield* news
      if (this.#news.length > 0) continue
      if (this.#failure !== null) throw this.#failure.error
      if (this.#open === 0) return
      if (!(await this.#bell.wait(quietMs, NEVER))) yield { kind: 'quiet' }
      quietMs = PING_MS
    }
  }

  /** The answers in the order of the tasks. */
  async answers(): Promise<readonly Answer[]> {
    const answers: Answer[] = []
    for await (const news of this.news()) if (news.kind === 'end') answers[news.index] = news.answer
    return answers
  }

  /** The client has gone. Tasks that run go on: their programs cannot be interrupted without ending them. */
  leave(): void {
    if (this.#open === 0 || this.#isLeft) return
    this.#isLeft = true
    this.#news = []
    const { context } = this.#ports
    if (context.onDisconnect === 'cancel' && !context.isStopping()) this.#cancelWaiting('its client, who left')
  }

  async #follow(index: number, row: JobRow): Promise<void> {
    const { context, watch, stopping } = this.#ports
    const { queries, streams, figures } = context
    try {
      for await (const news of followAnswer({ queries, streams, watch }, row, stopping)) {
        if (news.kind === 'delta') this.#tell({ ...news, index })
        else if (news.kind === 'end') {
          figures.take(this.#request.owner, this.#request.preset.name, news.answer.usage)
          this.#tell({ ...news, index })
        } else if (news.kind === 'state' && this.#isLate) this.#becomeLate()
      }
    } catch (error) {
      this.#fail(error)
    }
    this.#open -= 1
    if (this.#open === 0) clearTimeout(this.#late)
    this.#bell.ring()
  }

  #tell(news: ExchangeNews): void {
    if (this.#isLeft) return
    this.#news.push(news)
    this.#bell.ring()
  }

  /** One answer is missing, so the others are of no use. */
  #fail(error: unknown): void {
    if (this.#failure !== null) return
    this.#failure = { error }
    if (!this.#ports.stopping.aborted) this.#cancelWaiting('the hub: another task of its request failed')
  }

  #becomeLate(): void {
    this.#isLate = true
    this.#cancelWaiting(lateBy(this.#request.preset))
  }

  #cancelWaiting(by: string): void {
    const { context } = this.#ports
    cancelWaiting(context, this.#rows, by).catch(context.failed)
  }
}

const NEVER = new AbortController().signal
