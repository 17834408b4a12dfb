import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseProcessTicks } from '../machine/own-ticks.ts'

/** The kernel counts processor time in hundredths of a second, on every Linux that runs Node. */
const TICK_MS = 10

/** Processor time one process has used so far, all its threads together, and children that ended, in milliseconds. */
export async function cpuMsOf(pid: number): Promise<number> {
  const parsed = parseProcessTicks(await readFile(`/proc/${pid}/stat`, 'utf8'))
  if (parsed === null) throw new Error(`process ${pid} should have its ticks in its stat, it names none`)
  return parsed.ticks * TICK_MS
}

/** What one process takes of one core while so much time passes, in percent. */
export async function cpuPercentOf(pid: number, duringMs: number): Promise<number> {
  const before = await cpuMsOf(pid)
  const startedAt = performance.now()
  await sleep(duringMs)
  return (100 * ((await cpuMsOf(pid)) - before)) / (performance.now() - startedAt)
}
