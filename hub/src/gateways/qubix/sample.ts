import type { GpuSample, HostSample } from '@stoker/protocol'

/** One measurement, whatever its sender calls the figures; null is what nobody measured. */
export interface Sample {
  readonly cpuPct: number | null
  readonly ramPct: number | null
  readonly ramUsedGb: number | null
  readonly ramTotalGb: number | null
  readonly gpuUtilPct: number | null
  readonly gpuTempC: number | null
  readonly vramUsedMb: number | null
  readonly vramTotalMb: number | null
  readonly powerW: number | null
  readonly powerLimitW: number | null
}

type Figures = Readonly<Record<string, unknown>>

const GIB = 2 ** 30

/** Names by heartbeats of both kinds of workers, by progress, and with underscores. */
export function sampleOf(told: Figures): Sample | null {
  const first = (...names: readonly string[]): number | null => {
    const name = names.find(each => typeof told[each] === 'number' && Number.isFinite(told[each]))
    return name === undefined ? null : (told[name] as number)
  }
  const vramTotalMb = beyondZero(first('gpuMemTotalMb', 'gpuMemoryTotal', 'gpu_mem_total_mb'))
  const sample = {
    cpuPct: first('cpuPercent', 'cpu_percent'),
    ramPct: first('ramPercent', 'ram_percent'),
    ramUsedGb: first('ramUsedGb', 'ram_used_gb'),
    ramTotalGb: beyondZero(first('ramTotalGb', 'ram_total_gb')),
    gpuUtilPct: first('gpuPercent', 'gpuUtilization', 'gpu_percent'),
    gpuTempC: beyondZero(first('gpuTemp', 'gpuTemperature', 'gpu_temp')),
    vramUsedMb: vramTotalMb === null ? null : first('gpuMemUsedMb', 'gpuMemoryUsed', 'gpu_mem_used_mb'),
    vramTotalMb,
    powerW: beyondZero(first('gpuPowerDraw', 'powerUsage')),
    powerLimitW: beyondZero(first('gpuPowerLimit')),
  }
  return isConstant(sample) ? null : sample
}

/** Old workers turn "not available" into 0 where 0 is impossible. */
function beyondZero(figure: number | null): number | null {
  return figure !== null && figure > 0 ? figure : null
}

/** 0, 0 and nothing else is what the simple worker always says in progress: no measurement, and no idle machine. */
function isConstant({ cpuPct, ramPct, ...rest }: Sample): boolean {
  return (cpuPct ?? 0) === 0 && (ramPct ?? 0) === 0 && Object.values(rest).every(figure => figure === null)
}

/** Null while the size of the memory is unknown: a share of an unknown whole is no amount. */
export function hostSample(sample: Sample, knownMemoryBytes: number): HostSample | null {
  const { cpuPct, ramPct, ramUsedGb, ramTotalGb } = sample
  const total = ramTotalGb === null ? knownMemoryBytes : Math.round(ramTotalGb * GIB)
  const used = ramUsedGb === null ? ((ramPct ?? 0) / 100) * total : ramUsedGb * GIB
  if (cpuPct === null || total === 0 || (ramPct === null && ramUsedGb === null)) return null
  return {
    cpuPercent: cpuPct,
    memoryUsedBytes: Math.round(used),
    memoryTotalBytes: total,
    load1: null,
    netRxBytes: null,
    netTxBytes: null,
  }
}

/** Empty where nothing was measured, or no device is known that it could be about. */
export function gpuSamples(sample: Sample, uuid: string | undefined): readonly GpuSample[] {
  const { gpuUtilPct, gpuTempC, vramUsedMb, powerW, powerLimitW } = sample
  const figures = [gpuUtilPct, gpuTempC, vramUsedMb, powerW, powerLimitW]
  if (uuid === undefined || figures.every(figure => figure === null)) return []
  return [{ uuid, utilization: gpuUtilPct, memoryUsedMb: vramUsedMb, temperatureC: gpuTempC, powerW, powerLimitW }]
}
