import { createReadStream } from 'node:fs'
import { Parser, type ReadEntry } from 'tar'
import { ArchiveRefused } from './archive-refused.ts'
import type { Unpacking } from './unpacking.ts'

const KINDS: Readonly<Record<string, string>> = {
  CharacterDevice: 'device',
  BlockDevice: 'device',
  FIFO: 'named pipe',
}

/** Reads a tar, also a gzipped one, entry by entry; a damaged or cut archive is an error, never a shorter result. */
export async function readTar(archive: string, unpacking: Unpacking): Promise<void> {
  const source = createReadStream(archive, { highWaterMark: 256 * 1024 })
  const parser = new Parser({ strict: true, maxDecompressionRatio: Number.POSITIVE_INFINITY })
  let working: Promise<void> = Promise.resolve()
  try {
    await new Promise<void>((resolve, reject) => {
      parser.on('entry', (entry: ReadEntry) => {
        working = working.then(() => take(entry, unpacking))
        working.catch(reject)
      })
      parser.on('ignoredEntry', (entry: ReadEntry) => reject(unknownKind(entry)))
      parser.on('error', (cause: Error) => reject(damaged(cause)))
      parser.on('end', () => working.then(resolve, reject))
      source.on('error', reject)
      source.pipe(parser as unknown as NodeJS.WritableStream)
    })
  } finally {
    source.unpipe()
    source.destroy()
  }
}

async function take(entry: ReadEntry, unpacking: Unpacking): Promise<void> {
  const { path, type, mode = 0o644, linkpath = '' } = entry
  if (type === 'File' || type === 'OldFile' || type === 'ContiguousFile')
    return unpacking.file(path, mode, entry as AsyncIterable<Uint8Array>)
  entry.resume()
  if (type === 'Directory') return unpacking.folder(path)
  if (type === 'SymbolicLink') return unpacking.symbolicLink(path, linkpath)
  if (type === 'Link') return unpacking.hardLink(path, linkpath)
  unpacking.refuse(path, KINDS[type] ?? type)
}

function unknownKind(entry: ReadEntry): ArchiveRefused {
  const kind = KINDS[entry.type] ?? entry.type
  return new ArchiveRefused(
    `entry ${JSON.stringify(entry.path)} is refused: it is a ${kind}, only files, folders and links are unpacked`,
  )
}

function damaged(cause: Error): ArchiveRefused {
  return new ArchiveRefused(`the archive is damaged or no tar: ${cause.message}`, { cause })
}
