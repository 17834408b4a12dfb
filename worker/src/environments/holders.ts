import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, sha256 } from '@stoker/files'

/** Whoever uses an environment is known by a folder of its own: as long as that is there, the environment is in use. */
export async function addHolder(folder: string, holder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await symlink(holder, join(folder, sha256(holder).slice(0, 32))).catch(error => {
    if (!hasCode(error, 'EEXIST')) throw error
  })
}

/** How many use it; those that are gone are forgotten. */
export async function countHolders(folder: string): Promise<number> {
  const links = (await readdir(folder).catch(() => [])).map(name => join(folder, name))
  const gone = links.filter(link => !existsSync(link))
  for (const link of gone) await rm(link, { force: true })
  return links.length - gone.length
}
