import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Deeper than any tree of a program; a broken table must not be walked for ever. */
const MAX_DEPTH = 64

/** Whether a process belongs to an attempt of any worker on this machine: it or one above it carries the mark. Null if it cannot be seen from here. */
export async function isAttemptProcess(pid: number, root = '/proc'): Promise<boolean | null> {
  let at = pid
  for (let depth = 0; depth < MAX_DEPTH && at > 1; depth += 1) {
    const stat = await readText(join(root, String(at), 'stat'))
    if (stat === null) return at === pid ? null : false
    const environment = await readText(join(root, String(at), 'environ'))
    if (environment?.split('\0').some(line => line.startsWith('STOKER_ATTEMPT=')) === true) return true
    at = parentIn(stat)
  }
  return false
}

/** The name in parentheses may itself hold spaces and parentheses. */
function parentIn(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
}

function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}
