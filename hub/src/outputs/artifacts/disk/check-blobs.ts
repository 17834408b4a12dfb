import { stat } from 'node:fs/promises'
import { sha256File } from '@stoker/files'
import type { BlobRow } from '@stoker/protocol'
import { isAbsent } from '../../disk/append-file.ts'
import { blobLayout, blobPath } from './blob-layout.ts'

/** Reads all content the rows promise and lists what is not as promised. */
export async function checkBlobs(folder: string, rows: readonly BlobRow[]): Promise<readonly string[]> {
  const layout = blobLayout(folder)
  const problems: string[] = []
  for (const row of rows) {
    const problem = await checkOne(blobPath(layout, row), row)
    if (problem !== null) problems.push(`content ${row.sha256} of ${row.owner} ${problem}`)
  }
  return problems
}

async function checkOne(path: string, { sha256, size }: BlobRow): Promise<string | null> {
  try {
    const { size: found } = await stat(path)
    if (found !== size) return `should have ${size} bytes, its file has ${found}`
    const hash = await sha256File(path)
    return hash === sha256 ? null : `gives the hash ${hash}`
  } catch (error) {
    if (isAbsent(error)) return `should have ${size} bytes, its file is not there`
    throw error
  }
}
