import { lstat, readdir, rename, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessAbsent } from '../absent.ts'
import { ArchiveRefused } from './archive-refused.ts'

/** Moves everything of one folder into another on the same disk; folders are joined, nothing else is ever replaced. */
export async function mergeFolder(from: string, into: string, below = ''): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    const source = join(from, entry.name)
    const target = join(into, entry.name)
    const there = await unlessAbsent(lstat(target))
    if (there === null) await rename(source, target)
    else if (entry.isDirectory() && there.isDirectory()) await mergeFolder(source, target, path)
    else throw new ArchiveRefused(`${JSON.stringify(path)} is put in place twice, by two inputs`)
  }
  await rmdir(from)
}
