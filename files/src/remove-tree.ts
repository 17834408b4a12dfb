import { randomUUID } from 'node:crypto'
import { chmod, lstat, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { hasCode } from './absent.ts'

/** Paths end at 4,096 bytes, folders do not: deeper ones are moved up before they are emptied. */
const DEEP = 2_000

/** Removes links, never what they point at, and folders their owner closed or nested too deep to name; the writers must have ended. */
export async function removeTree(path: string): Promise<void> {
  const root = resolve(path)
  try {
    await rm(root, { recursive: true, force: true })
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM', 'ENAMETOOLONG', 'ENOTEMPTY')) throw error
    await openFolders(root)
    await rm(root, { recursive: true, force: true })
  }
}

async function openFolders(root: string): Promise<void> {
  const waiting = [root]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if ((await lstat(folder)).isDirectory()) waiting.push(...(await openFolder(folder, root)))
  }
}

async function openFolder(folder: string, root: string): Promise<string[]> {
  await chmod(folder, 0o700)
  const entries = await readdir(folder, { withFileTypes: true })
  const inner = entries.filter(entry => entry.isDirectory()).map(entry => join(folder, entry.name))
  return Promise.all(inner.map(path => (path.length > root.length + DEEP ? moveUp(path, root) : path)))
}

async function moveUp(path: string, root: string): Promise<string> {
  const shallow = join(root, `deep-${randomUUID()}`)
  await chmod(path, 0o700)
  await rename(path, shallow)
  return shallow
}
