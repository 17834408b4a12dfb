import type { Entry, ZipFile } from 'yauzl'
import { ArchiveRefused } from './archive-refused.ts'
import { entryName } from './entry-name.ts'
import { bodyOf, kindOf, nextEntry, openZip } from './read-zip.ts'
import { UNPACK_LIMITS, type UnpackLimits } from './unpacking.ts'

export interface ZipLook {
  /** Paths of all files. */
  readonly files: ReadonlySet<string>
  /** Of the files that were asked for and are not too long. */
  readonly texts: ReadonlyMap<string, string>
}

/** Lists a stranger's zip without unpacking it, and reads some of its files as text, `textBytes` at most of all together. Refuses what could never be unpacked. */
export async function lookIntoZip(
  archive: string,
  reads: (path: string) => boolean,
  { textBytes, ...given }: Partial<UnpackLimits> & { readonly textBytes: number },
): Promise<ZipLook> {
  const limits = { ...UNPACK_LIMITS, ...given }
  const zip = await openZip(archive)
  const files = new Set<string>()
  const texts = new Map<string, string>()
  let [entries, bytes, left] = [0, 0, textBytes]
  try {
    for (let entry = await nextEntry(zip); entry !== null; entry = await nextEntry(zip)) {
      const path = fileOf(entry, limits)
      entries += 1
      bytes += entry.uncompressedSize
      checkSums(zip, entries, bytes, limits)
      if (path === null) continue
      if (files.has(path)) throw new ArchiveRefused(`the archive has ${JSON.stringify(path)} twice`)
      files.add(path)
      if (!reads(path) || entry.uncompressedSize > left) continue
      left -= entry.uncompressedSize
      texts.set(path, await textOf(zip, entry))
    }
  } finally {
    zip.close()
  }
  return { files, texts }
}

/** Null for what is no file. */
function fileOf(entry: Entry, { maxNameBytes }: UnpackLimits): string | null {
  const path = entryName(entry.fileName, maxNameBytes)
  const kind = kindOf(entry)
  const shown = JSON.stringify(entry.fileName.slice(0, 200))
  if (kind === 'other') throw new ArchiveRefused(`entry ${shown} is refused: it is a device, pipe or socket`)
  if (entry.isEncrypted()) throw new ArchiveRefused(`entry ${shown} is refused: it is encrypted`)
  return kind === 'file' ? path : null
}

function checkSums(zip: ZipFile, entries: number, bytes: number, limits: UnpackLimits): void {
  const { maxEntries, maxBytes, maxRatio, ratioFromBytes } = limits
  if (entries > maxEntries) throw new ArchiveRefused(`the archive has more than ${maxEntries} entries`)
  if (bytes > maxBytes) throw new ArchiveRefused(`the archive unpacks to more than ${maxBytes} bytes`)
  if (bytes > ratioFromBytes && bytes > maxRatio * zip.fileSize)
    throw new ArchiveRefused(`${zip.fileSize} bytes of archive would become more than ${maxRatio} times as many`)
}

async function textOf(zip: ZipFile, entry: Entry): Promise<string> {
  const parts: Uint8Array[] = []
  try {
    for await (const part of await bodyOf(zip, entry)) parts.push(part)
  } catch (cause) {
    if (cause instanceof ArchiveRefused) throw cause
    throw new ArchiveRefused(`entry ${JSON.stringify(entry.fileName)} is damaged: ${(cause as Error).message}`, {
      cause,
    })
  }
  return Buffer.concat(parts).toString('utf8')
}
