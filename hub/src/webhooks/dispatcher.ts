import { addressKind, guardedPost, hostOf } from '@stoker/net'
import type { DeliveryRow, Job, JobRow, RowWrite, WebhookBody } from '@stoker/protocol'
import type { Batch } from '../engine/core.ts'
import type { EngineLoop } from '../engine/loop.ts'
import type { WebhookState } from '../engine/owner-things.ts'
import type { Queries } from '../store/port.ts'
import { Lane, type Try } from './lane.ts'
import { signedHeaders } from './sign.ts'

const ANSWER_MS = 15_000
/** A timer longer than this is set again when it ends, so that a changed clock is noticed. */
const LONGEST_REST_MS = 60_000
/** Told ends that are kept for each webhook, to be looked at. */
const KEPT = 500

export interface DispatcherPorts {
  readonly engine: Pick<EngineLoop, 'execute' | 'read' | 'onCommit'>
  readonly queries: Queries
  readonly view: (row: JobRow) => Promise<Job>
  readonly openSecret: (webhook: WebhookState) => Promise<string>
  /** Hosts that may be posted to although their address is private. */
  readonly allowedHosts: readonly string[]
  readonly now: () => number
  readonly random: () => number
}

/** Tells the targets of webhooks what the store says is to be told; a lane for each. */
export class WebhookDispatcher {
  readonly #ports: DispatcherPorts
  readonly #lanes = new Map<string, { readonly lane: Lane; timer: NodeJS.Timeout | null }>()
  readonly #stopListening: () => void
  readonly #closing = new AbortController()

  constructor(ports: DispatcherPorts) {
    this.#ports = ports
    this.#stopListening = ports.engine.onCommit(batch => this.#onCommit(batch))
  }

  /** Goes on with what an earlier process of the hub left untold. */
  async start(): Promise<void> {
    for (const id of await this.#ports.engine.read(({ webhooks }) => [...webhooks.keys()])) this.#open(id).wake()
  }

  /** Why nothing would ever be posted there, as far as the address itself tells; names are looked up each time something is posted. */
  refusal(url: string): string | null {
    const host = hostOf(new URL(url))
    const kind = isLoopbackName(host) ? 'loopback' : addressKind(host)
    if (kind === 'public' || kind === 'no address' || this.#ports.allowedHosts.includes(host)) return null
    return `url: ${host} is ${kind}, and only public addresses are posted to; whoever runs the hub may allow this one: --webhook-allow ${host}`
  }

  /** Posts a test message now, and remembers nothing of it. */
  async ping(webhook: WebhookState, id: string): Promise<{ readonly status: number } | { readonly error: string }> {
    const timestamp = new Date(this.#ports.now()).toISOString()
    const outcome = await this.#post(webhook, id, { type: 'ping', timestamp, data: { job: null } })
    return typeof outcome === 'string' ? { error: 'the hub is stopping' } : outcome
  }

  /** Forgets what was told long ago; what is still to be told stays. */
  async sweep(): Promise<void> {
    for (const id of this.#lanes.keys()) {
      let before = (await this.#ports.queries.deliveries(id, null, KEPT)).at(-1)?.job
      while (before !== undefined) {
        const older = await this.#ports.queries.deliveries(id, before, KEPT)
        const told = older.filter(({ dueAt }) => dueAt === null)
        await this.#write(
          id,
          told.map(({ job }) => ({ op: 'delete', table: 'delivery', key: { webhook: id, job } })),
        )
        before = older.at(-1)?.job
      }
    }
  }

  async close(): Promise<void> {
    this.#stopListening()
    this.#closing.abort(new Error('the hub is stopping'))
    const lanes = [...this.#lanes.values()]
    for (const { timer } of lanes) if (timer !== null) clearTimeout(timer)
    await Promise.all(lanes.map(({ lane }) => lane.settled()))
  }

  #onCommit({ changes }: Batch): void {
    let isEnd = false
    for (const change of changes) {
      if (change.c === 'webhook') this.#open(change.id)
      else if (change.c === 'webhookRemoved') this.#forget(change.id)
      else if (change.c === 'ended' || change.c === 'attemptEnded') isEnd = true
    }
    if (isEnd) for (const { lane } of this.#lanes.values()) lane.wake()
  }

  #open(id: string): Lane {
    const known = this.#lanes.get(id)
    if (known !== undefined) return known.lane
    const { queries, now, random } = this.#ports
    const lane = new Lane({
      pending: async limit => (this.#closing.signal.aborted ? [] : queries.pendingDeliveries(id, limit)),
      attempt: delivery => this.#attempt(id, delivery),
      write: rows => this.#write(id, rows),
      now,
      random,
      later: ms => this.#rest(id, ms),
    })
    this.#lanes.set(id, { lane, timer: null })
    return lane
  }

  /** What was told to a webhook that is gone meanwhile is gone with it. */
  async #write(id: string, rows: readonly RowWrite[]): Promise<void> {
    const { engine } = this.#ports
    if (await engine.read(({ webhooks }) => webhooks.has(id))) await engine.execute({ kind: 'rows', rows })
  }

  #rest(id: string, ms: number): void {
    const known = this.#lanes.get(id)
    if (known === undefined || this.#closing.signal.aborted) return
    if (known.timer !== null) clearTimeout(known.timer)
    known.timer = setTimeout(() => known.lane.wake(), Math.min(ms, LONGEST_REST_MS))
    known.timer.unref()
  }

  #forget(id: string): void {
    const known = this.#lanes.get(id)
    if (known !== undefined && known.timer !== null) clearTimeout(known.timer)
    this.#lanes.delete(id)
  }

  async #attempt(id: string, { job, createdAt }: DeliveryRow): Promise<Try> {
    const webhook = await this.#ports.engine.read(state => state.webhooks.get(id))
    const [row] = await this.#ports.queries.jobsBySeq([job])
    if (webhook === undefined || row === undefined || !hasLabels(row, webhook.labels)) return 'drop'
    const data = { job: await this.#ports.view(row) }
    return this.#post(webhook, `${id}.${row.id}`, {
      type: 'job.ended',
      timestamp: new Date(createdAt).toISOString(),
      data,
    })
  }

  async #post(webhook: WebhookState, id: string, content: WebhookBody): Promise<Try> {
    const { allowedHosts, openSecret, now } = this.#ports
    const body = JSON.stringify(content)
    try {
      const headers = signedHeaders(await openSecret(webhook), id, now(), body)
      const status = await guardedPost(
        webhook.url,
        { headers, body },
        {
          timeoutMs: ANSWER_MS,
          signal: this.#closing.signal,
          allowPrivate: target => allowedHosts.includes(hostOf(target)),
        },
      )
      return { status }
    } catch (error) {
      if (this.#closing.signal.aborted) return 'left'
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }
}

function isLoopbackName(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host)
}

function hasLabels(row: JobRow, wanted: Readonly<Record<string, string>>): boolean {
  const labels: Record<string, string> = row.labels === null ? {} : JSON.parse(row.labels)
  return Object.entries(wanted).every(([key, value]) => labels[key] === value)
}
