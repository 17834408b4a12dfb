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

/**
 * Processor time of a process, of all that live below it, and of all that lived below it and were waited for; and of
 * those who have left the tree, as keepers of programs do, but name the folder in their words.
 */
export async function treeTicks(root: number, folder: string): Promise<number> {
  const all = new Map<number, ProcessTicks>()
  const roots = new Set([root])
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue
    const [stat, words] = await Promise.all(
      ['stat', 'cmdline'].map(file => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '')),
    )
    const parsed = parseProcessTicks(stat ?? '')
    if (parsed !== null) all.set(Number(name), parsed)
    if (words?.includes(folder)) roots.add(Number(name))
  }
  const isBelow = (pid: number): boolean => roots.has(pid) || (all.has(pid) && isBelow(all.get(pid)?.parent ?? 0))
  return [...all].reduce((sum, [pid, { ticks }]) => sum + (isBelow(pid) ? ticks : 0), 0)
}
