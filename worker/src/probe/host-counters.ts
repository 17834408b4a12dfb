import { readFileSync } from 'node:fs'
import os from 'node:os'

/** CPU in any one unit of time, counted over all cores; network without loopback and bridges, which would count bytes twice. */
export interface Counters {
  readonly cpuTotal: number
  readonly cpuIdle: number
  readonly memoryTotalBytes: number
  readonly memoryAvailableBytes: number
  readonly netRxBytes: number
  readonly netTxBytes: number
}

const INNER_INTERFACE = /^(lo|ifb\d|veth|docker|br-|virbr|cni|flannel|cali)/

/** Synchronous on purpose: the kernel answers from memory, quicker than a thread pool would. */
export function readCounters(): Counters {
  if (process.platform !== 'linux') return { ...cpuFromOs(), ...memoryFromOs(), netRxBytes: 0, netTxBytes: 0 }
  return {
    ...cpuFromStat(readFileSync('/proc/stat', 'utf8')),
    ...memoryFromMeminfo(readFileSync('/proc/meminfo', 'utf8')),
    ...networkFromDev(readFileSync('/proc/net/dev', 'utf8')),
  }
}

/** Guest time is already inside user time, so only the first eight columns count; waiting for a disk is idle. */
export function cpuFromStat(stat: string): Pick<Counters, 'cpuTotal' | 'cpuIdle'> {
  const ticks = stat.slice(0, stat.indexOf('\n')).trim().split(/\s+/).slice(1, 9).map(Number)
  return { cpuTotal: ticks.reduce((sum, tick) => sum + tick, 0), cpuIdle: (ticks[3] ?? 0) + (ticks[4] ?? 0) }
}

/** Available includes what the kernel would give back from its caches. */
export function memoryFromMeminfo(meminfo: string): Pick<Counters, 'memoryTotalBytes' | 'memoryAvailableBytes'> {
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(meminfo)?.[1] ?? 0) * 1024
  return { memoryTotalBytes: bytes('MemTotal'), memoryAvailableBytes: bytes('MemAvailable') }
}

/** Counters start at boot and are summed over the interfaces that lead out of the machine. */
export function networkFromDev(dev: string): Pick<Counters, 'netRxBytes' | 'netTxBytes'> {
  const sum = { netRxBytes: 0, netTxBytes: 0 }
  for (const line of dev.split('\n')) {
    const [, name, numbers] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? []
    if (name === undefined || numbers === undefined || INNER_INTERFACE.test(name)) continue
    const columns = numbers.split(/\s+/)
    sum.netRxBytes += Number(columns[0] ?? 0)
    sum.netTxBytes += Number(columns[8] ?? 0)
  }
  return sum
}

function cpuFromOs(): Pick<Counters, 'cpuTotal' | 'cpuIdle'> {
  const times = os.cpus().map(cpu => cpu.times)
  const total = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0)
  return { cpuTotal: total, cpuIdle: times.reduce((sum, { idle }) => sum + idle, 0) }
}

function memoryFromOs(): Pick<Counters, 'memoryTotalBytes' | 'memoryAvailableBytes'> {
  return { memoryTotalBytes: os.totalmem(), memoryAvailableBytes: os.freemem() }
}
