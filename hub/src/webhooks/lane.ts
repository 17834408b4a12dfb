import { nextDelayMs } from '@stoker/net'
import type { DeliveryRow, RowWrite } from '@stoker/protocol'

const AT_ONCE = 4
const PAGE = 32
/** An end that could not be told for this long is given up and shown as failed. */
const GIVE_UP_MS = 24 * 3600_000
const BACKOFF = { baseMs: 2_000, maxMs: 3600_000 }

/**
 * How one try went. `drop`: there is nothing to tell, the job is gone or has not the labels that were asked for.
 * `left`: the hub stopped in the middle, so it does not count.
 */
export type Try = { readonly status: number } | { readonly error: string } | 'drop' | 'left'

export interface LanePorts {
  readonly pending: (limit: number) => Promise<readonly DeliveryRow[]>
  readonly attempt: (delivery: DeliveryRow) => Promise<Try>
  readonly write: (rows: readonly RowWrite[]) => Promise<void>
  readonly now: () => number
  readonly random: () => number
  /** Asks to be called again after this long. */
  readonly later: (ms: number) => void
}

/**
 * What is to be told to one target. resting: nothing due, or waiting for `later`. working: a page of due ends is being told.
 * One lane per target, so a dead one delays only itself.
 */
export class Lane {
  readonly #ports: LanePorts
  #working: Promise<void> | null = null
  #again = false

  constructor(ports: LanePorts) {
    this.#ports = ports
  }

  wake(): void {
    this.#again = true
    this.#working ??= this.#work().finally(() => {
      this.#working = null
    })
  }

  /** Resolves when nothing is on its way. */
  async settled(): Promise<void> {
    while (this.#working !== null) await this.#working
  }

  async #work(): Promise<void> {
    while (this.#again) {
      this.#again = false
      const now = this.#ports.now()
      const page = await this.#ports.pending(PAGE)
      const due = page.filter(({ dueAt }) => dueAt !== null && dueAt <= now)
      for (let at = 0; at < due.length; at += AT_ONCE)
        await Promise.all(due.slice(at, at + AT_ONCE).map(delivery => this.#tell(delivery)))
      if (due.length > 0) this.#again = true
      else if (page[0]?.dueAt != null) this.#ports.later(Math.max(0, page[0].dueAt - now))
    }
  }

  async #tell(delivery: DeliveryRow): Promise<void> {
    const { webhook, job } = delivery
    const outcome = await this.#ports.attempt(delivery)
    if (outcome === 'left') return
    const key = { webhook, job }
    if (outcome === 'drop') await this.#ports.write([{ op: 'delete', table: 'delivery', key }])
    else await this.#ports.write([{ op: 'update', table: 'delivery', key, set: this.#after(delivery, outcome) }])
  }

  #after(delivery: DeliveryRow, outcome: Exclude<Try, string>): Partial<DeliveryRow> {
    const now = this.#ports.now()
    const tries = delivery.tries + 1
    const status = 'status' in outcome ? outcome.status : null
    if (status !== null && status >= 200 && status < 300)
      return { state: 'delivered', tries, dueAt: null, endedAt: now, status, error: null }
    const error = 'error' in outcome ? outcome.error : `a 2xx answer is needed, the target gave ${status}`
    if (now - delivery.createdAt > GIVE_UP_MS)
      return { state: 'failed', tries, dueAt: null, endedAt: now, status, error }
    const delay = nextDelayMs({ ...BACKOFF, attempt: delivery.tries, random: this.#ports.random })
    return { tries, dueAt: now + Math.round(delay), status, error }
  }
}
