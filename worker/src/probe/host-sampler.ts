import os from 'node:os'
import type { HostSample } from '@stoker/protocol'
import { type Counters, readCounters } from './host-counters.ts'

/** Remembers the last reading, since CPU use only exists between two. */
export class HostSampler {
  readonly #read: () => Counters
  #last: Counters
  #cpuPercent = 0

  constructor(read: () => Counters = readCounters) {
    this.#read = read
    this.#last = read()
  }

  /** CPU is the whole machine's since the call before; network bytes are totals since boot, so a rate is the caller's difference. */
  sample(): HostSample {
    const now = this.#read()
    const passed = now.cpuTotal - this.#last.cpuTotal
    if (passed > 0) {
      const idle = Math.max(0, now.cpuIdle - this.#last.cpuIdle)
      this.#cpuPercent = Math.max(0, 100 * (1 - idle / passed))
      this.#last = now
    }
    return {
      cpuPercent: Math.round(this.#cpuPercent * 10) / 10,
      memoryUsedBytes: now.memoryTotalBytes - now.memoryAvailableBytes,
      memoryTotalBytes: now.memoryTotalBytes,
      load1: os.loadavg()[0] ?? 0,
      netRxBytes: now.netRxBytes,
      netTxBytes: now.netTxBytes,
    }
  }
}
