import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseProcessTicks } from '../machine/own-ticks.ts'

/** The kernel counts processor time in hundredths of a second, on every Linux that runs Node. */
const TICKS_PER_SECOND = 100

/** What one process takes of one core while so much time passes, in percent; its threads count, and children that ended meanwhile. */
export async function cpuPercentOf(pid: number, duringMs: number): Promise<number> {
  const before = await ticksOf(pid)
  const startedAt = performance.now()
  await sleep(duringMs)
  const ticks = (await ticksOf(pid)) - before
  return (100 * ticks) / TICKS_PER_SECOND / ((performance.now() - startedAt) / 1000)
}

async function ticksOf(pid: number): Promise<number> {
  const parsed = parseProcessTicks(await readFile(`/proc/${pid}/stat`, 'utf8'))
  if (parsed === null) throw new Error(`process ${pid} should have its ticks in its stat, it names none`)
  return parsed.ticks
}
