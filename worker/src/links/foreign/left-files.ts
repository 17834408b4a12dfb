import { lstat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { matchOutputs, openFileContent } from '@stoker/files'
import { isInnerPath } from '@stoker/protocol'

const MAX_FILES = 1000

/** A file a program left in its work folder. */
export interface LeftFile {
  readonly path: string
  readonly size: number
  readonly sha256: string
  readonly contentType: string
}

export interface LeftFiles {
  readonly files: readonly LeftFile[]
  /** How many there are in truth. */
  readonly count: number
}

/**
 * What a program left, without what it was given: `given` by name, or everything last written before `sinceMs`.
 * Links are neither followed nor taken.
 */
export async function leftFiles(
  folder: string,
  { given = [], sinceMs = null }: { readonly given?: readonly string[]; readonly sinceMs?: number | null },
): Promise<LeftFiles> {
  const work = join(folder, 'work')
  const { paths } = await matchOutputs(work, ['**'], Number.MAX_SAFE_INTEGER)
  const fresh: string[] = []
  for (const path of paths) {
    if (given.includes(path) || !isInnerPath(path) || path.split('/').includes('__pycache__')) continue
    if (sinceMs === null || (await lstat(join(work, path))).mtimeMs >= sinceMs) fresh.push(path)
  }
  const files: LeftFile[] = []
  for (const path of fresh.slice(0, MAX_FILES)) files.push(await fileAt(work, path))
  return { files, count: fresh.length }
}

async function fileAt(work: string, path: string): Promise<LeftFile> {
  const { size, sha256, close } = await openFileContent(join(work, path), { name: path })
  await close()
  return { path, size, sha256, contentType: TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream' }
}

const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.png': 'image/png',
  '.txt': 'text/plain',
  '.zip': 'application/zip',
}
