import type { Gpu, GpuSample, Hardware, HostSample } from '@stoker/protocol'

const GIB = 2 ** 30

export interface Provider {
  readonly workerId: string
  readonly name: string
  readonly address: string | null
  readonly location: string
  readonly pricePerHour: number
  readonly hardware: Hardware
  /** Of the first core, as the machine says; 0 where it does not. */
  readonly cpuMhz: number
}

/** First words to a backend: what this machine really has. */
export function registerBody(provider: Provider, freeBytes: number, capabilities: readonly string[]) {
  const { workerId, hardware } = provider
  const [gpu] = hardware.gpus
  const vramGb = gpu === undefined ? 0 : gibOf(gpu.memoryMb * 2 ** 20)
  return {
    worker_id: workerId,
    workerId,
    name: provider.name,
    address: provider.address ?? `QUBIC_${workerId.toUpperCase()}`,
    location: provider.location,
    computePower: hardware.cores * 10 + vramGb * 50,
    pricePerHour: provider.pricePerHour,
    isActive: true,
    specs: {
      worker_id: workerId,
      hostname: hardware.hostname,
      os: hardware.os,
      cpu_model: hardware.cpuModel,
      cpu_cores: hardware.cores,
      cpu_freq_ghz: provider.cpuMhz / 1000,
      ram_total_gb: gibOf(hardware.memoryBytes),
      ram_available_gb: gibOf(freeBytes),
      gpu_available: gpu !== undefined,
      gpu_model: gpu?.name ?? 'None',
      gpu_vram_gb: vramGb,
      storage_total_gb: gibOf(hardware.disk.totalBytes),
      storage_free_gb: gibOf(hardware.disk.freeBytes),
    },
    capabilities,
    gpus: hardware.gpus.map(({ index, name, memoryMb }) => ({
      index,
      model: name,
      vram_gb: gibOf(memoryMb * 2 ** 20),
    })),
  }
}

/** For backends that know only this way in; the address is the owner's own. */
export function quickRegisterBody({ workerId, hardware, location, pricePerHour }: Provider, qubicAddress: string) {
  const [gpu] = hardware.gpus
  return {
    type: 'native',
    workerId,
    qubicAddress,
    gpu: { model: gpu?.name ?? 'None', vram: gpu === undefined ? 0 : gibOf(gpu.memoryMb * 2 ** 20), type: 'native' },
    cpu: { model: hardware.cpuModel, cores: hardware.cores },
    ram: { total: gibOf(hardware.memoryBytes) },
    location,
    pricePerHour,
  }
}

/** Live load; figures of GPUs only where there were some. Backends differ in how they spell the keys, so both are said. */
export function usageBody(host: HostSample, gpus: readonly Gpu[], samples: readonly GpuSample[], at: number) {
  const ramPercent = round((100 * host.memoryUsedBytes) / host.memoryTotalBytes)
  const used = gibOf(host.memoryUsedBytes)
  const total = gibOf(host.memoryTotalBytes)
  const first = gpus.flatMap(gpu => samples.filter(one => one.uuid === gpu.uuid).map(sample => ({ gpu, sample })))[0]
  return {
    cpuPercent: host.cpuPercent,
    ramPercent,
    ramUsedGb: used,
    ramTotalGb: total,
    cpu_percent: host.cpuPercent,
    ram_percent: ramPercent,
    ram_used_gb: used,
    ram_total_gb: total,
    timestamp: stamp(at),
    ...(first === undefined ? {} : gpuUsage(first.gpu, first.sample)),
  }
}

function gpuUsage({ memoryMb }: Gpu, { utilization, memoryUsedMb, temperatureC, powerW, powerLimitW }: GpuSample) {
  return known({
    gpuPercent: utilization,
    gpuTemp: temperatureC,
    gpuMemUsedMb: memoryUsedMb,
    gpuMemTotalMb: memoryMb,
    gpuPowerDraw: powerW,
    gpuPowerLimit: powerLimitW,
    gpu_percent: utilization,
    gpu_temp: temperatureC,
    gpu_mem_used_mb: memoryUsedMb,
    gpu_mem_total_mb: memoryMb,
  })
}

/** Of the device a job has. */
export function gpuMetrics({ memoryMb }: Gpu, sample: GpuSample) {
  return known({
    gpuUtilization: sample.utilization,
    gpuMemoryUsed: sample.memoryUsedMb,
    gpuMemoryTotal: memoryMb,
    gpuTemperature: sample.temperatureC,
    powerUsage: sample.powerW,
  })
}

/** Without zone, as this dialect writes it; in UTC. */
export function stamp(at: number): string {
  return new Date(at).toISOString().replace('Z', '')
}

/** What nobody measured is not said. */
function known(figures: Readonly<Record<string, number | null>>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
}

function gibOf(bytes: number): number {
  return round(bytes / GIB)
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
