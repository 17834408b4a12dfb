import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A reader sees the old content or all of the new, also after a power cut; a given mode is exact, whatever the umask. */
export async function writeAtomic(
  path: string,
  data: string | Uint8Array,
  options: { readonly mode?: number | undefined } = {},
): Promise<void> {
  const folder = dirname(path)
  const temporary = join(folder, `.tmp-${randomBytes(8).toString('hex')}`)
  try {
    await writeSynced(temporary, data, options.mode)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(folder)
}

/** Makes names created, renamed or removed in a folder durable; a file's own sync does not cover its name. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function writeSynced(path: string, data: string | Uint8Array, mode: number | undefined): Promise<void> {
  const handle = await open(path, 'wx', mode)
  try {
    if (mode !== undefined) await handle.chmod(mode)
    await handle.writeFile(data)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
