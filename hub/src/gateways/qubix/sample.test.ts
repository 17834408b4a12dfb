import { expect, it } from 'vitest'
import { gpuSamples, hostSample, type Sample, sampleOf } from './sample.ts'

const NOTHING = {
  ...{ cpuPct: null, ramPct: null, ramUsedGb: null, ramTotalGb: null, gpuUtilPct: null },
  ...{ gpuTempC: null, vramUsedMb: null, vramTotalMb: null, powerW: null, powerLimitW: null },
}

it.each<[string, Record<string, unknown>, Partial<Sample>]>([
  [
    'a heartbeat of the simple worker',
    {
      ...{ cpuPercent: 12.5, ramPercent: 13.6, ramUsedGb: 4.34, ramTotalGb: 31.84, timestamp: 'x', gpuPercent: 37.0 },
      ...{ gpuMemoryPercent: 12, gpuTemp: 61, gpuMemUsedMb: 5120, gpuMemTotalMb: 24564 },
      ...{ gpuPowerDraw: 188.4, gpuPowerLimit: 450 },
    },
    {
      ...{ cpuPct: 12.5, ramPct: 13.6, ramUsedGb: 4.34, ramTotalGb: 31.84, gpuUtilPct: 37, gpuTempC: 61 },
      ...{ vramUsedMb: 5120, vramTotalMb: 24564, powerW: 188.4, powerLimitW: 450 },
    },
  ],
  [
    'progress of the enhanced worker',
    { gpuUtilization: 37, gpuMemoryUsed: 5120, gpuMemoryTotal: 24564, gpuTemperature: 61, powerUsage: 188.4 },
    { gpuUtilPct: 37, vramUsedMb: 5120, vramTotalMb: 24564, gpuTempC: 61, powerW: 188.4 },
  ],
  [
    'keys with underscores',
    {
      cpu_percent: 1,
      ram_percent: 2,
      ram_used_gb: 3,
      ram_total_gb: 4,
      gpu_percent: 5,
      gpu_temp: 6,
      gpu_mem_used_mb: 7,
      gpu_mem_total_mb: 8,
    },
    { cpuPct: 1, ramPct: 2, ramUsedGb: 3, ramTotalGb: 4, gpuUtilPct: 5, gpuTempC: 6, vramUsedMb: 7, vramTotalMb: 8 },
  ],
  [
    'zeros where zero is impossible',
    { gpuUtilization: 0, gpuMemoryUsed: 0, gpuMemoryTotal: 0, gpuTemperature: 0, powerUsage: 0 },
    { gpuUtilPct: 0 },
  ],
  ['words where figures belong', { cpuPercent: '12', gpuPercent: 3 }, { gpuUtilPct: 3 }],
])('%s is read', (_, told, expected) => {
  expect(sampleOf(told)).toEqual({ ...NOTHING, ...expected })
})

it.each([[{ cpuPercent: 0, ramPercent: 0, gpuPercent: null, gpuTemp: null }], [{}]])('%j is no measurement', told => {
  expect(sampleOf(told)).toBeNull()
})

it('makes amounts of memory of shares only where the whole is known', () => {
  const shares = { ...NOTHING, cpuPct: 5, ramPct: 50 }
  expect(hostSample(shares, 1000)).toMatchObject({ memoryUsedBytes: 500, memoryTotalBytes: 1000, load1: null })
  expect(hostSample(shares, 0)).toBeNull()
  expect(hostSample({ ...NOTHING, ramUsedGb: 1, ramTotalGb: 2 }, 0)).toBeNull()
})

it('is about a device only where one is known and something of it was measured', () => {
  expect(gpuSamples({ ...NOTHING, gpuUtilPct: 3 }, undefined)).toEqual([])
  expect(gpuSamples({ ...NOTHING, cpuPct: 3 }, 'g')).toEqual([])
  expect(gpuSamples({ ...NOTHING, gpuUtilPct: 3 }, 'g')).toMatchObject([{ uuid: 'g', utilization: 3, powerW: null }])
})
