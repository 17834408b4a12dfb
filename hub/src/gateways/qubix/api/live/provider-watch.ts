import { atMostEvery } from '../../../../serving/at-most-every.ts'
import type { ConsumerContext } from '../context.ts'
import { type MetricsView, viewSample } from '../metrics-views.ts'
import { type ProviderStatus, providersOf, statusOf } from '../provider-views.ts'
import { statsOf } from '../stats.ts'

/** Whoever is connected is not in the journal: it is looked at. */
const LOOK_MS = 1000

/** What changed since the last look. */
export interface MarketNews {
  readonly statuses: readonly StatusNews[]
  readonly metrics: readonly MetricsNews[]
  /** Some count of jobs or providers is another. */
  readonly hasNewStats: boolean
}

interface StatusNews {
  readonly providerId: string
  /** Null: it is gone. */
  readonly status: ProviderStatus | null
  readonly previousStatus: ProviderStatus | null
}

interface MetricsNews {
  readonly providerId: string
  readonly gpus: readonly (MetricsView & { readonly uuid: string })[]
}

interface Seen {
  readonly status: ProviderStatus
  readonly sampleAt: number
}

/** Looks at all providers while someone wants to know of them; one look serves all. */
export class ProviderWatch {
  readonly #context: ConsumerContext
  readonly #lookMs: number
  readonly #listeners = new Set<(news: MarketNews) => void>()
  #seen: ReadonlyMap<string, Seen> = new Map()
  #stats = ''
  #stop: (() => void) | null = null

  constructor(context: ConsumerContext, lookMs = LOOK_MS) {
    this.#context = context
    this.#lookMs = lookMs
  }

  get size(): number {
    return this.#listeners.size
  }

  /** Tells from the present on: what is there now is no news. */
  async add(listener: (news: MarketNews) => void): Promise<() => void> {
    if (this.#listeners.size === 0) await this.#look()
    this.#listeners.add(listener)
    this.#stop ??= this.#begin()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = null
    }
  }

  #begin(): () => void {
    const look = () => void this.#look().then(news => this.#tell(news), this.#context.failed)
    const often = atMostEvery(this.#lookMs, look)
    const unlisten = this.#context.engine.onCommit(often.poke)
    const timer = setInterval(often.poke, this.#lookMs)
    return () => {
      unlisten()
      clearInterval(timer)
      often.stop()
    }
  }

  #tell(news: MarketNews): void {
    if (news.statuses.length === 0 && news.metrics.length === 0 && !news.hasNewStats) return
    for (const listener of this.#listeners) listener(news)
  }

  #look(): Promise<MarketNews> {
    const { board, engine } = this.#context
    return engine.read(state => {
      const now = new Map<string, Seen>()
      const statuses: StatusNews[] = []
      const metrics: MetricsNews[] = []
      for (const provider of providersOf(this.#context, state)) {
        const { id: providerId, worker } = provider
        const sample = board.samplesOf(providerId).at(-1)
        const seen = { status: statusOf(provider), sampleAt: sample?.at ?? 0 }
        const before = this.#seen.get(providerId)
        now.set(providerId, seen)
        if (before?.status !== seen.status)
          statuses.push({ providerId, status: seen.status, previousStatus: before?.status ?? null })
        if (sample !== undefined && before?.sampleAt !== seen.sampleAt) {
          const gpus = worker.facts.hardware.gpus.map(({ uuid, memoryMb }) => ({
            uuid,
            ...viewSample(sample, uuid, memoryMb),
          }))
          metrics.push({ providerId, gpus })
        }
      }
      for (const [providerId, { status }] of this.#seen)
        if (!now.has(providerId)) statuses.push({ providerId, status: null, previousStatus: status })
      this.#seen = now
      const stats = JSON.stringify(statsOf(state, null))
      const hasNewStats = stats !== this.#stats
      this.#stats = stats
      return { statuses, metrics, hasNewStats }
    })
  }
}
