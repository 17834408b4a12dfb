import { readFile } from 'node:fs/promises'

/** Resident memory of one process in MB, as the kernel counts it. */
export function memoryMbOf(pid: number): Promise<number> {
  return statusMb(pid, 'VmRSS')
}

/** The most it ever had. */
export function peakMemoryMbOf(pid: number): Promise<number> {
  return statusMb(pid, 'VmHWM')
}

async function statusMb(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
  if (kilobytes === undefined) throw new Error(`process ${pid} should have resident memory, its status names none`)
  return (Number(kilobytes) * 1024) / 1e6
}
