import { readFile } from 'node:fs/promises'

/** Resident memory of one process in MB, as the kernel counts it. */
export async function memoryMbOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  if (kilobytes === undefined) throw new Error(`process ${pid} should have resident memory, its status names none`)
  return (Number(kilobytes) * 1024) / 1e6
}
