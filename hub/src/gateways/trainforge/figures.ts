import type { GpuSample } from '@stoker/protocol'
import { z } from 'zod'
import type { LiveBoard } from '../../engine/live-board.ts'
import type { KnownWorker } from './ledger.ts'
import { deviceId } from './worker-facts.ts'

const figure = z.number().nullable().catch(null)
const Gpu = z.object({
  gpu_id: z.int().min(0).max(1000),
  memory_used_mb: figure,
  utilization_percent: figure,
  temperature_celsius: figure,
  power_usage_watts: figure,
})
const Figures = z.object({ gpu_status: z.object({ gpus: z.record(z.string(), Gpu.nullable().catch(null)) }) })

/** Shows what a repaired node says of its GPUs; its figures decide nothing. Host figures are not shown: half of them mean something else than they say. */
export function hearFigures(board: LiveBoard, worker: KnownWorker, at: number, body: unknown): void {
  const parsed = Figures.safeParse(body)
  if (!parsed.success) return
  const gpus = Object.values(parsed.data.gpu_status.gpus).flatMap((gpu): GpuSample[] =>
    gpu === null
      ? []
      : [
          {
            uuid: deviceId(worker, gpu.gpu_id),
            utilization: gpu.utilization_percent,
            memoryUsedMb: gpu.memory_used_mb,
            temperatureC: gpu.temperature_celsius,
            powerW: gpu.power_usage_watts,
            powerLimitW: null,
          },
        ],
  )
  if (gpus.length > 0) board.put(worker.key, { t: 'live', at, host: null, gpus, attempts: [] })
}
