import { cp, link, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { lockFolder, syncFolder } from '@stoker/files'
import { withStore } from './with-store.ts'

const DATABASE = 'stoker.db'
const OUTPUTS = 'outputs'

/**
 * A consistent copy of a data folder, also while its hub runs: output files are held by links first, so that none the
 * database copy speaks of can vanish meanwhile; they only grow, and bytes the copy does not know are ignored at a restore.
 */
export async function backUp(data: string, to: string): Promise<void> {
  const target = resolve(to)
  await mkdir(target, { recursive: true, mode: 0o700 })
  if ((await readdir(target)).length > 0) throw new Error(`a backup needs an empty folder, ${target} has files in it`)
  if (!(await readdir(data)).includes(DATABASE))
    throw new Error(`${resolve(data)} holds no hub: there is no ${DATABASE} in it`)
  const held = join(resolve(data), `backup-${process.pid}`)
  try {
    await holdFiles(join(data, OUTPUTS), held)
    await withStore(data, store => store.backup(join(target, DATABASE)))
    await holdFiles(join(data, OUTPUTS), held)
    await cp(held, join(target, OUTPUTS), { recursive: true })
  } finally {
    await rm(held, { recursive: true, force: true })
  }
  await syncFolder(target)
}

/** Puts a backup into a folder of its own; the hub that starts there has a higher epoch than any before. */
export async function restore(from: string, data: string): Promise<void> {
  if (!(await readdir(from)).includes(DATABASE))
    throw new Error(`${resolve(from)} is no backup: there is no ${DATABASE} in it`)
  await mkdir(data, { recursive: true, mode: 0o700 })
  if ((await readdir(data)).length > 0)
    throw new Error(`a restore needs an empty data folder, ${resolve(data)} has files in it`)
  const lock = await lockFolder(data)
  try {
    await cp(join(from, OUTPUTS), join(data, OUTPUTS), { recursive: true })
    await cp(join(from, DATABASE), join(data, `${DATABASE}.partial`))
    await rename(join(data, `${DATABASE}.partial`), join(data, DATABASE))
    await syncFolder(data)
  } finally {
    await lock.release()
  }
}

async function holdFiles(folder: string, held: string): Promise<void> {
  await mkdir(held, { recursive: true, mode: 0o700 })
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [from, to] = [join(folder, entry.name), join(held, entry.name)]
    if (entry.isDirectory()) await holdFiles(from, to)
    else await link(from, to).catch(ignoreGoneOrKnown)
  }
}

function ignoreGoneOrKnown(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error
}
