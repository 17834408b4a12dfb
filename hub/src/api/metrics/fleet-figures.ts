import { Gauge, type Registry } from 'prom-client'
import type { LiveBoard } from '../../engine/live-board.ts'
import type { State, WorkerState } from '../../engine/state.ts'
import { countWorkers } from '../service.ts'

/** Above this many workers, figures of single ones would drown a scraper. */
const MOST_WORKERS = 2000

/** Figures of workers and their devices, read when asked. */
export class FleetFigures {
  readonly #board: LiveBoard
  readonly #gauges: Readonly<Record<Name, Gauge>>

  constructor(registry: Registry, board: LiveBoard) {
    this.#board = board
    const registers = [registry]
    this.#gauges = Object.fromEntries(
      Object.entries(HELP).map(([name, [help, labelNames]]) => [
        name,
        new Gauge({ name: `stoker_${name}`, help, labelNames: [...labelNames], registers }),
      ]),
    ) as Record<Name, Gauge>
  }

  look(state: State, now: number): void {
    for (const gauge of Object.values(this.#gauges)) gauge.reset()
    const { connected, total } = countWorkers(state)
    this.#gauges.workers.set({ connected: 'true' }, connected)
    this.#gauges.workers.set({ connected: 'false' }, total - connected)
    const devices = new Set([...state.workers.values()].flatMap(w => w.facts.hardware.gpus.map(({ uuid }) => uuid)))
    this.#gauges.gpus.set({ claimed: 'true' }, state.devices.size)
    this.#gauges.gpus.set({ claimed: 'false' }, Math.max(0, devices.size - state.devices.size))
    let left = MOST_WORKERS
    for (const worker of state.workers.values()) if (left-- > 0) this.#lookAt(worker, now)
  }

  #lookAt(worker: WorkerState, now: number): void {
    const { facts } = worker
    const label = { worker: facts.name }
    const gauges = this.#gauges
    gauges.worker_up.set(label, worker.connected ? 1 : 0)
    gauges.worker_draining.set(label, worker.draining ? 1 : 0)
    gauges.worker_running.set(label, worker.active.size)
    if (worker.seenAt !== null) gauges.worker_last_heard_seconds.set(label, Math.max(0, now - worker.seenAt) / 1000)
    const sample = this.#board.samplesOf(worker.id).at(-1)
    if (sample === undefined) return
    if (sample.spoolBytes !== null) gauges.worker_spool_bytes.set(label, sample.spoolBytes)
    if (sample.host !== null) {
      gauges.worker_cpu_ratio.set(label, sample.host.cpuPercent / 100)
      gauges.worker_memory_used_bytes.set(label, sample.host.memoryUsedBytes)
    }
    for (const { uuid, utilization, memoryUsedMb, temperatureC, powerW } of sample.gpus) {
      const gpu = { ...label, gpu: uuid }
      if (utilization !== null) gauges.gpu_utilization_ratio.set(gpu, utilization / 100)
      if (memoryUsedMb !== null) gauges.gpu_memory_used_bytes.set(gpu, memoryUsedMb * 2 ** 20)
      if (temperatureC !== null) gauges.gpu_temperature_celsius.set(gpu, temperatureC)
      if (powerW !== null) gauges.gpu_power_watts.set(gpu, powerW)
    }
  }
}

const HELP = {
  workers: ['Workers by whether they are connected', ['connected']],
  gpus: ['GPUs of all known workers by whether an attempt claims them', ['claimed']],
  worker_up: ['1 while the worker is connected', ['worker']],
  worker_draining: ['1 while the worker takes no new jobs', ['worker']],
  worker_running: ['Attempts the worker holds', ['worker']],
  worker_last_heard_seconds: ['Time since the last word of the worker', ['worker']],
  worker_spool_bytes: ['Output the worker has sent and the hub has not acknowledged', ['worker']],
  worker_cpu_ratio: ['Processors in use on the machine of the worker, 0 to 1', ['worker']],
  worker_memory_used_bytes: ['Memory in use on the machine of the worker', ['worker']],
  gpu_utilization_ratio: ['Use of the GPU, 0 to 1', ['worker', 'gpu']],
  gpu_memory_used_bytes: ['Memory in use on the GPU', ['worker', 'gpu']],
  gpu_temperature_celsius: ['Temperature of the GPU', ['worker', 'gpu']],
  gpu_power_watts: ['Power the GPU draws', ['worker', 'gpu']],
} as const
type Name = keyof typeof HELP
