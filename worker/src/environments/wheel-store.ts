import { chmod, lstat, readdir, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { ownTree } from './own-tree.ts'

const WHEEL = /^[A-Za-z0-9._+!-]{1,200}\.whl$/

export interface Wheel {
  readonly path: string
  readonly bytes: number
  readonly usedAt: number
}

/** Keeps what an installation fetched for the next one. Names and files come out of a sandbox: only plain wheels are taken. */
export async function keepWheels(from: string, to: string, now: number): Promise<void> {
  for (const name of await readdir(from).catch(() => [])) {
    const path = join(from, name)
    if (!WHEEL.test(name) || !(await lstat(path)).isFile()) continue
    await ownTree(path)
    await chmod(path, 0o644)
    await utimes(path, new Date(now), new Date(now))
    await rename(path, join(to, name))
  }
}

export async function listWheels(folder: string): Promise<Wheel[]> {
  const names = await readdir(folder).catch(() => [])
  const found = await Promise.all(
    names.map(async name => {
      const path = join(folder, name)
      const { size, mtimeMs } = await lstat(path)
      return { path, bytes: size, usedAt: mtimeMs }
    }),
  )
  return found
}

/** One that is being read meanwhile is only fetched once more. */
export async function removeWheel({ path }: Wheel): Promise<void> {
  await rm(path, { force: true })
}
