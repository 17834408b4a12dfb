import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Exit } from './port.ts'

/** How the attempt ended, as its keeper wrote it down; null when it did not. A folder may be an earlier attempt's: the record says whose it is. */
export async function readExitRecord(folder: string, key: string): Promise<Exit | null> {
  try {
    const [line = ''] = (await readFile(join(folder, 'exit.json'), 'utf8')).split('\n', 1)
    const { key: of, ...exit } = JSON.parse(line)
    return of === key ? exit : null
  } catch {
    return null
  }
}
