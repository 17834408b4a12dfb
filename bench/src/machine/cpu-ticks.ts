import { readFile } from 'node:fs/promises'

export interface CpuTicks {
  readonly busy: number
  readonly stolen: number
  readonly total: number
}

/** All cores together; time taken away by other virtual machines counts as busy. Null where the kernel does not tell. */
export async function readCpuTicks(): Promise<CpuTicks | null> {
  return parseCpuTicks(await readFile('/proc/stat', 'utf8').catch(() => ''))
}

export function parseCpuTicks(stat: string): CpuTicks | null {
  const fields = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number)
  const [user, nice, system, idle, iowait = 0, irq = 0, softirq = 0, steal = 0] = fields ?? []
  if (user === undefined || nice === undefined || system === undefined || idle === undefined) return null
  const busy = user + nice + system + irq + softirq + steal
  return { busy, stolen: steal, total: busy + idle + iowait }
}
