import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { PassThrough, pipeline, type Readable } from 'node:stream'
import { ZipFile } from 'yazl'

/** A file of a zip; `at` is in milliseconds. */
export interface ZipPart {
  readonly path: string
  readonly size: number
  readonly executable: boolean
  readonly at: number
  readonly open: () => Promise<Readable>
}

/** After 1980, which zip demands. */
const EARLIEST = Date.parse('1980-01-02T00:00:00Z')

/** Files as one zip, stored as they are, one opened at a time. Whoever stops reading closes the file at hand; what breaks a file off breaks the zip off. */
export function zipOf(parts: readonly ZipPart[]): Readable {
  const zip = new ZipFile()
  const out = new PassThrough()
  let current: Readable | null = null
  for (const { path, size, executable, at, open } of parts) {
    const mtime = new Date(Math.max(at, EARLIEST))
    const options = { size, compress: false, mtime, mode: executable ? 0o100755 : 0o100644 }
    zip.addReadStreamLazy(path, options, give => {
      open().then(
        body => {
          current = body
          body.once('error', error => out.destroy(error))
          if (out.destroyed) body.destroy()
          else give(null, body)
        },
        error => out.destroy(error),
      )
    })
  }
  zip.on('error', error => out.destroy(error))
  pipeline(zip.outputStream, out, () => current?.destroy())
  zip.end()
  return out
}

/** All files of a folder as one zip, in the order of their paths; links and empty folders have no place in it. */
export async function zipFolder(folder: string, at: number): Promise<Readable> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.flatMap(entry => (entry.isFile() ? join(entry.parentPath, entry.name) : [])).sort()
  return zipOf(await Promise.all(files.map(file => partOf(folder, file, at))))
}

async function partOf(folder: string, file: string, at: number): Promise<ZipPart> {
  const { size, mode } = await stat(file)
  const path = relative(folder, file)
  return { path, size, executable: (mode & 0o111) !== 0, at, open: async () => createReadStream(file) }
}
