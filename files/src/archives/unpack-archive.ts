import { mkdir, stat } from 'node:fs/promises'
import { removeTree } from '../remove-tree.ts'
import { readTar } from './read-tar.ts'
import { readZip } from './read-zip.ts'
import { UNPACK_LIMITS, Unpacking, type UnpackLimits } from './unpacking.ts'

export type ArchiveFormat = 'tar' | 'tar.gz' | 'zip'

/** Makes `into`, which must not exist, hold exactly what a stranger's archive holds; if anything is refused, `into` is gone again. */
export async function unpackArchive(
  archive: string,
  format: ArchiveFormat,
  into: string,
  limits: Partial<UnpackLimits> = {},
): Promise<void> {
  const { size } = await stat(archive)
  await mkdir(into, { mode: 0o700 })
  const unpacking = new Unpacking(into, size, { ...UNPACK_LIMITS, ...limits })
  try {
    await (format === 'zip' ? readZip(archive, unpacking) : readTar(archive, unpacking))
  } catch (error) {
    await removeTree(into)
    throw error
  }
}
