import { readdir, readFile } from 'node:fs/promises'

/** Where a process stands in the tree, and the processor time it and its finished children took. */
export interface ProcessTicks {
  readonly parent: number
  readonly ticks: number
}

/** The line may hold any name, spaces and brackets included: fields are counted behind its last bracket. */
export function parseProcessTicks(stat: string): ProcessTicks | null {
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [, parent, , , , , , , , , , user, system, childUser, childSystem] = fields
  if (parent === undefined || childSystem === undefined) return null
  return { parent, ticks: (user ?? 0) + (system ?? 0) + (childUser ?? 0) + childSystem }
}

/** Processor time of a process, of all that live below it, and of all that lived below it and were waited for. */
export async function treeTicks(root: number): Promise<number> {
  const all = new Map<number, ProcessTicks>()
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue
    const parsed = parseProcessTicks(await readFile(`/proc/${name}/stat`, 'utf8').catch(() => ''))
    if (parsed !== null) all.set(Number(name), parsed)
  }
  const isBelow = (pid: number): boolean => pid === root || (all.has(pid) && isBelow(all.get(pid)?.parent ?? 0))
  return [...all].reduce((sum, [pid, { ticks }]) => sum + (isBelow(pid) ? ticks : 0), 0)
}
