import type { Readable } from 'node:stream'
import { type Entry, open, type ZipFile } from 'yauzl'
import { ArchiveRefused } from './archive-refused.ts'
import type { Unpacking } from './unpacking.ts'

const UNIX = 3
const KIND_MASK = 0o170000
const FOLDER = 0o040000
const LINK = 0o120000
const FILE = 0o100000
const MAX_TARGET_BYTES = 4096

/** Reads a zip through its directory, entry by entry; sizes that are not what the directory says are an error. */
export async function readZip(archive: string, unpacking: Unpacking): Promise<void> {
  const zip = await openZip(archive)
  try {
    for (let entry = await nextEntry(zip); entry !== null; entry = await nextEntry(zip))
      await take(zip, entry, unpacking)
  } finally {
    zip.close()
  }
}

async function take(zip: ZipFile, entry: Entry, unpacking: Unpacking): Promise<void> {
  const name = entry.fileName
  const mode = modeOf(entry)
  const kind = kindOf(entry)
  if (kind === 'folder') return unpacking.folder(name)
  if (kind === 'other') unpacking.refuse(name, 'device, pipe or socket')
  if (entry.isEncrypted()) unpacking.refuse(name, 'encrypted file')
  if (kind !== 'link') return unpacking.file(name, mode, await bodyOf(zip, entry))
  if (entry.uncompressedSize > MAX_TARGET_BYTES) unpacking.refuse(name, `link of ${entry.uncompressedSize} bytes`)
  const parts: Uint8Array[] = []
  for await (const part of await bodyOf(zip, entry)) parts.push(part)
  return unpacking.symbolicLink(name, Buffer.concat(parts).toString('utf8'))
}

function modeOf({ versionMadeBy, externalFileAttributes }: Entry): number {
  return versionMadeBy >> 8 === UNIX ? externalFileAttributes >>> 16 : 0
}

export function kindOf(entry: Entry): 'folder' | 'file' | 'link' | 'other' {
  const kind = modeOf(entry) & KIND_MASK
  if (entry.fileName.endsWith('/') || kind === FOLDER) return 'folder'
  if (kind === LINK) return 'link'
  return kind === 0 || kind === FILE ? 'file' : 'other'
}

export function openZip(path: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false, strictFileNames: true }
    open(path, options, (error, zip) => (error === null ? resolve(zip) : reject(damaged(error))))
  })
}

export function nextEntry(zip: ZipFile): Promise<Entry | null> {
  return new Promise((resolve, reject) => {
    const done = (entry: Entry | null, error?: Error) => {
      zip.removeAllListeners()
      if (error === undefined) resolve(entry)
      else reject(damaged(error))
    }
    zip.once('entry', (entry: Entry) => done(entry))
    zip.once('end', () => done(null))
    zip.once('error', (error: Error) => done(null, error))
    zip.readEntry()
  })
}

export function bodyOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, body) => (error === null ? resolve(body) : reject(damaged(error))))
  })
}

function damaged(cause: Error): ArchiveRefused {
  return new ArchiveRefused(`the archive is damaged, no zip, or names something outside: ${cause.message}`, { cause })
}
