import { access, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '@stoker/files'

/** A copy appears under its name only when it is whole and on the disk; a file that is there already is never replaced. */
export async function backupTo(toFile: string, copy: (file: string) => Promise<void>): Promise<void> {
  const exists = await access(toFile).then(
    () => true,
    () => false,
  )
  if (exists) throw new Error(`the backup needs a new file, ${toFile} exists already`)
  const partial = `${toFile}.partial`
  await rm(partial, { force: true })
  try {
    await copy(partial)
    await syncFile(partial)
    await rename(partial, toFile)
    await syncFolder(dirname(toFile))
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
