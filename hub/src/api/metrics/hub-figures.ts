import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'
import type { State } from '../../engine/state.ts'
import type { RouteContext } from '../context.ts'

const NS = 1e9
/** The monitor counts from one of its ticks to the next: only what is more than this was late. Each tick wakes an idle hub: twenty a second were a sixth of what it used. */
const RESOLUTION_MS = 100

/** Figures of the hub process itself, and of the data it keeps. */
export class HubFigures {
  readonly #context: RouteContext
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #gauges: Readonly<Record<Name, Gauge>>

  constructor(registry: Registry, context: RouteContext) {
    this.#context = context
    const registers = [registry]
    this.#gauges = Object.fromEntries(
      Object.entries(HELP).map(([name, [help, labelNames]]) => [
        name,
        new Gauge({ name, help, labelNames: [...labelNames], registers }),
      ]),
    ) as Record<Name, Gauge>
    this.#gauges.stoker_build_info.set({ version: context.version }, 1)
    this.#gauges.process_start_time_seconds.set(context.startedAt / 1000)
    this.#delay.enable()
  }

  look(state: State): void {
    const gauges = this.#gauges
    gauges.stoker_epoch.set(state.epoch)
    gauges.stoker_journal_rows.set(state.journal.n)
    gauges.stoker_open_streams.set(this.#context.open.size)
    gauges.process_resident_memory_bytes.set(process.memoryUsage.rss())
    const { user, system } = process.cpuUsage()
    gauges.process_cpu_seconds_total.set((user + system) / 1e6)
    const late = (ns: number) => Math.max(0, ns / NS - RESOLUTION_MS / 1000)
    gauges.stoker_event_loop_delay_seconds.set({ quantile: '0.5' }, late(this.#delay.percentile(50)))
    gauges.stoker_event_loop_delay_seconds.set({ quantile: '0.99' }, late(this.#delay.percentile(99)))
    gauges.stoker_event_loop_delay_seconds.set({ quantile: '1' }, late(this.#delay.max))
    this.#delay.reset()
  }

  /** What has to be asked of the disk. */
  async measure(): Promise<void> {
    const shortage = this.#context.diskGuard()
    this.#gauges.stoker_disk_guard.set(shortage === null ? 0 : 1)
    const { freeBytes, parts } = await this.#context.dataSizes()
    this.#gauges.stoker_disk_free_bytes.set(freeBytes)
    for (const [part, bytes] of Object.entries(parts)) this.#gauges.stoker_data_bytes.set({ part }, bytes)
  }

  close(): void {
    this.#delay.disable()
  }
}

const HELP = {
  stoker_build_info: ['The version of the hub', ['version']],
  stoker_epoch: ['The epoch of the hub, which grows with every start', []],
  stoker_journal_rows: ['Commits in history', []],
  stoker_open_streams: ['Followers of events, logs and the feed', []],
  stoker_event_loop_delay_seconds: ['How late the hub came to its work since it was last asked', ['quantile']],
  stoker_disk_guard: ['1 while new work is refused for lack of disk space', []],
  stoker_disk_free_bytes: ['Free space where the hub keeps its data', []],
  stoker_data_bytes: ['Size of what the hub keeps, by part', ['part']],
  process_start_time_seconds: ['When the hub started, in seconds since 1970', []],
  process_resident_memory_bytes: ['Memory of the hub process', []],
  process_cpu_seconds_total: ['CPU time the hub process has used', []],
} as const
type Name = keyof typeof HELP
