import type { JobRow } from '@stoker/protocol'
import type { BoardSample } from '../../../engine/live-board.ts'
import type { State } from '../../../engine/state.ts'
import type { ConsumerContext } from './context.ts'
import { isoTime } from './provider-views.ts'

/** One look at a machine and one of its GPUs; what nobody measured is null. */
export interface MetricsView {
  readonly timestamp: string
  readonly gpuUtilization: number | null
  readonly gpuMemoryUsed: number | null
  readonly gpuMemoryTotal: number | null
  readonly gpuTemperature: number | null
  readonly powerUsage: number | null
  readonly powerLimit: number | null
  readonly cpuPercent: number | null
  readonly ramUsedGb: number | null
  readonly ramTotalGb: number | null
}

/** What the machine of a job measured in the last seconds while it ran there, oldest first. */
export async function metricsOf(context: ConsumerContext, row: JobRow, rangeSeconds: number) {
  const { worker } = row
  if (row.state !== 'active' || worker === null) return { latest: null, history: [] }
  const since = Math.max(context.now() - rangeSeconds * 1000, row.placedAt ?? 0)
  const [uuid]: string[] = row.gpus === null ? [] : JSON.parse(row.gpus)
  const total = await context.engine.read(state => memoryOf(state, worker, uuid))
  const samples = context.board.samplesOf(worker).filter(({ at }) => at >= since)
  const history = samples.map(sample => viewSample(sample, uuid, total))
  return { latest: history.at(-1) ?? null, history }
}

function memoryOf({ workers }: State, worker: string, uuid: string | undefined): number | null {
  return workers.get(worker)?.facts.hardware.gpus.find(gpu => gpu.uuid === uuid)?.memoryMb ?? null
}

export function viewSample(
  { at, gpus, host }: BoardSample,
  uuid: string | undefined,
  totalMb: number | null,
): MetricsView {
  const gpu = gpus.find(sample => sample.uuid === uuid)
  return {
    timestamp: isoTime(at),
    gpuUtilization: gpu?.utilization ?? null,
    gpuMemoryUsed: gpu?.memoryUsedMb ?? null,
    gpuMemoryTotal: gpu === undefined ? null : totalMb,
    gpuTemperature: gpu?.temperatureC ?? null,
    powerUsage: gpu?.powerW ?? null,
    powerLimit: gpu?.powerLimitW ?? null,
    cpuPercent: host?.cpuPercent ?? null,
    ramUsedGb: host === null ? null : host.memoryUsedBytes / 1e9,
    ramTotalGb: host === null ? null : host.memoryTotalBytes / 1e9,
  }
}
