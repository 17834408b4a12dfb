import { readFile } from 'node:fs/promises'

const TICKS_A_SECOND = 100

/** Processor time one process has used so far, all its threads together, in milliseconds. */
export async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return ((user + system) * 1000) / TICKS_A_SECOND
}
