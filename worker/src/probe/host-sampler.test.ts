import { expect, test } from 'vitest'
import { type Counters, cpuFromStat, memoryFromMeminfo, networkFromDev } from './host-counters.ts'
import { HostSampler } from './host-sampler.ts'

const zero: Counters = {
  cpuTotal: 0,
  cpuIdle: 0,
  memoryTotalBytes: 100,
  memoryAvailableBytes: 40,
  netRxBytes: 7,
  netTxBytes: 8,
}

function samplerOver(...readings: Partial<Counters>[]): HostSampler {
  return new HostSampler(() => ({ ...zero, ...readings.shift() }))
}

test('CPU use is the busy part of the time between two samples', () => {
  const sampler = samplerOver({}, { cpuTotal: 200, cpuIdle: 150 }, { cpuTotal: 300, cpuIdle: 150 })
  expect([sampler.sample().cpuPercent, sampler.sample().cpuPercent]).toEqual([25, 100])
})

test('without a tick in between the last CPU use still stands', () => {
  const tick = { cpuTotal: 200, cpuIdle: 150 }
  const sampler = samplerOver({}, tick, tick)
  expect([sampler.sample().cpuPercent, sampler.sample().cpuPercent]).toEqual([25, 25])
})

test('an idle count that runs backwards, as it can, never gives more than 100 or less than 0', () => {
  const sampler = samplerOver({ cpuIdle: 50 }, { cpuTotal: 100, cpuIdle: 40 }, { cpuTotal: 101, cpuIdle: 90 })
  expect([sampler.sample().cpuPercent, sampler.sample().cpuPercent]).toEqual([100, 0])
})

test('memory used is what is not available, network bytes are passed on', () => {
  expect(samplerOver().sample()).toMatchObject({
    memoryUsedBytes: 60,
    memoryTotalBytes: 100,
    netRxBytes: 7,
    netTxBytes: 8,
  })
})

test('waiting for disks is idle and guests are not counted twice', () => {
  expect(cpuFromStat('cpu  10 1 5 80 4 0 0 0 10 1\ncpu0 1 1 1\n')).toEqual({ cpuTotal: 100, cpuIdle: 84 })
})

test('memory is read in bytes', () => {
  expect(memoryFromMeminfo('MemTotal:  2 kB\nMemFree: 9 kB\nMemAvailable:   1 kB\n')).toEqual({
    memoryTotalBytes: 2_048,
    memoryAvailableBytes: 1_024,
  })
})

test('bytes that stay inside the machine are not network bytes', () => {
  const columns = (rx: number, tx: number) => `${rx} 1 0 0 0 0 0 0 ${tx} 1 0 0 0 0 0 0`
  const lines = ['lo', 'eth0', 'veth12', 'docker0', 'br-9', 'ifb0'].map(name => `  ${name}: ${columns(10, 20)}`)
  const glued = `wlan0:${columns(1, 2)}`
  expect(networkFromDev(['Inter-|', ' face |bytes', ...lines, glued].join('\n'))).toEqual({
    netRxBytes: 11,
    netTxBytes: 22,
  })
})

test('this machine can be sampled', () => {
  const sample = new HostSampler().sample()
  expect(sample.memoryTotalBytes).toBeGreaterThan(sample.memoryUsedBytes)
  expect(sample.memoryUsedBytes).toBeGreaterThan(0)
  expect(sample.cpuPercent).toBeGreaterThanOrEqual(0)
  expect(sample.cpuPercent).toBeLessThanOrEqual(100)
})

test('a sample costs less than a millisecond', () => {
  const sampler = new HostSampler()
  const times = Array.from({ length: 101 }, () => {
    const before = performance.now()
    sampler.sample()
    return performance.now() - before
  })
  expect(times.sort((a, b) => a - b)[50]).toBeLessThan(1)
})
