import type { ArtifactEntry, EndedReport, Offer } from '@stoker/protocol'
import type { Transfers } from '../artifacts/transfers.ts'
import type { Delivery } from './delivery.ts'
import { collectOutputs, uploadOutputs } from './outputs.ts'
import { PROGRAM_OUTPUTS } from './program-outputs.ts'

/** How long a canceled attempt may still bring out what its program left. */
const CANCELED_MS = 60_000

/**
 * Between a program's end and the telling of it: what `outputs` names is collected, uploaded, and listed in the report.
 * The attempt stays running for the hub meanwhile; the program's timeout does not count any more.
 */
export class OutputsStep {
  readonly #offer: Offer
  readonly #folder: string
  readonly transfers: Transfers
  readonly #delivery: Delivery
  /** There while outputs are brought out. */
  #stop: AbortController | null = null
  #withinMs: number | null = null
  #isShutDown = false
  #timer: NodeJS.Timeout | undefined

  constructor(offer: Offer, folder: string, transfers: Transfers, delivery: Delivery) {
    this.#offer = offer
    this.#folder = folder
    this.transfers = transfers
    this.#delivery = delivery
  }

  /** The attempt is to end soon: from the program's end on, or from now if it has ended, only so long. */
  hurry(cause: 'canceled' | 'stale' | 'shutdown' | 'session', graceMs: number): void {
    const withinMs = cause === 'canceled' ? CANCELED_MS : cause === 'stale' ? 0 : graceMs
    this.#isShutDown ||= cause === 'shutdown'
    this.#withinMs = Math.min(withinMs, this.#withinMs ?? withinMs)
    if (this.#stop !== null) this.#startTimer(this.#stop)
  }

  /** The report as it can be told: with what is at the hub, and with what is not. */
  async finish(report: EndedReport): Promise<EndedReport> {
    if (this.#offer.spec.outputs.length === 0 || report.outcome === 'lost' || report.startedAt === null) return report
    if (report.outcome === 'canceled') this.hurry('canceled', 0)
    const stop = new AbortController()
    this.#stop = stop
    this.#startTimer(stop)
    const kept: ArtifactEntry[] = []
    try {
      const collected = await collectOutputs(this.#offer, this.#folder)
      await this.#upload(collected, kept, stop.signal).catch(error => {
        if (!stop.signal.aborted) throw error
      })
      if (kept.length === collected.artifacts.length) return whole(report, kept, collected.unmatched)
      return cut(report, kept, collected.artifacts.length, this.#isShutDown)
    } catch (error) {
      return failed(report, kept, error instanceof Error ? error.message : String(error))
    } finally {
      clearTimeout(this.#timer)
    }
  }

  #upload(
    collected: Awaited<ReturnType<typeof collectOutputs>>,
    kept: ArtifactEntry[],
    signal: AbortSignal,
  ): Promise<void> {
    const { fence } = this.#offer
    const onBytes = (there: number, all: number) => {
      const percent = all === 0 ? 100 : Math.floor((100 * there) / all)
      this.#delivery.progress(fence, { percent, operation: 'uploading outputs', metrics: {} })
    }
    return uploadOutputs(this.#offer, this.#folder, collected, this.transfers, { signal, onBytes }, kept)
  }

  #startTimer(stop: AbortController): void {
    if (this.#withinMs === null) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => stop.abort(), this.#withinMs)
  }
}

function whole(report: EndedReport, kept: readonly ArtifactEntry[], unmatched: readonly string[]): EndedReport {
  const missing = unmatched
    .filter(glob => glob !== PROGRAM_OUTPUTS)
    .map(glob => `no file matches ${JSON.stringify(glob)}`)
  return { ...report, artifacts: sorted(kept), note: joined(report.note, ...missing) }
}

/** A success whose outputs are not all there is none: it was canceled, or must run again because its worker leaves. */
function cut(report: EndedReport, kept: readonly ArtifactEntry[], count: number, isShutDown: boolean): EndedReport {
  const text = `${kept.length} of ${count} outputs were uploaded when the attempt was stopped`
  if (report.outcome !== 'completed') return { ...report, artifacts: sorted(kept), note: joined(report.note, text) }
  if (isShutDown) return { ...report, outcome: 'lost', error: `its worker was shut down; ${text}` }
  return { ...report, outcome: 'canceled', error: text, artifacts: sorted(kept) }
}

/** Outputs that are lost in silence would be worse than a failed attempt; a failed attempt keeps its own reason. */
function failed(report: EndedReport, kept: readonly ArtifactEntry[], reason: string): EndedReport {
  const text = `its outputs could not be kept: ${reason}`
  if (report.outcome !== 'completed') return { ...report, artifacts: sorted(kept), note: joined(report.note, text) }
  return { ...report, outcome: 'failed', error: text, artifacts: sorted(kept) }
}

function sorted(kept: readonly ArtifactEntry[]): ArtifactEntry[] {
  return kept.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function joined(...notes: readonly (string | null)[]): string | null {
  return notes.filter(note => note !== null).join('; ') || null
}
