import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'

/** Writes files below a folder as a zip; returns its size. A file that vanishes or cannot be read is an error. */
export async function packZip(folder: string, paths: readonly string[], archive: string): Promise<number> {
  const zip = new ZipFile()
  const failed = new Promise<never>((_, reject) => zip.on('error', reject))
  for (const path of paths) zip.addFile(join(folder, path), path)
  zip.end()
  await Promise.race([pipeline(zip.outputStream, createWriteStream(archive, { mode: 0o600 })), failed])
  return (await stat(archive)).size
}
