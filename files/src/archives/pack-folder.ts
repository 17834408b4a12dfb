import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Header, Pax } from 'tar'
import { ArchiveRefused } from './archive-refused.ts'
import { type FolderEntry, listFolder } from './list-folder.ts'

const BLOCK = 512
const READ_BYTES = 256 * 1024
/** One moment for all: the same content gives the same bytes. After 1980, which zip tools demand. */
const MTIME = new Date('2000-01-01T00:00:00Z')

export interface PackedFolder {
  readonly sha256: string
  readonly size: number
  /** The hash of each file as it was packed, by its path. */
  readonly files: ReadonlyMap<string, string>
}

/** Writes a folder as a tar that depends on names, contents, links and executable bits only, so equal folders have equal hashes. */
export async function packFolder(folder: string, archive: string): Promise<PackedFolder> {
  const entries = await listFolder(folder)
  const files = new Map<string, string>()
  const whole = createHash('sha256')
  let size = 0
  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const part of tarOf(folder, entries, files)) {
      whole.update(part)
      size += part.length
      yield part
    }
  }
  await pipeline(bytes, createWriteStream(archive, { flags: 'wx', mode: 0o600 }))
  return { sha256: whole.digest('hex'), size, files }
}

async function* tarOf(
  root: string,
  entries: readonly FolderEntry[],
  files: Map<string, string>,
): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    yield headerOf(entry)
    if (entry.kind === 'file') yield* contentOf(root, entry, files)
  }
  yield Buffer.alloc(2 * BLOCK)
}

function headerOf(entry: FolderEntry): Buffer {
  const isExecutable = entry.kind === 'folder' || (entry.kind === 'file' && entry.executable)
  const data = {
    path: entry.kind === 'folder' ? `${entry.path}/` : entry.path,
    mode: isExecutable ? 0o755 : 0o644,
    size: entry.kind === 'file' ? entry.size : 0,
    mtime: MTIME,
    ...(entry.kind === 'link' ? { linkpath: entry.target } : {}),
    type: ({ folder: 'Directory', link: 'SymbolicLink', file: 'File' } as const)[entry.kind],
  }
  const header = new Header(data)
  const block = Buffer.alloc(BLOCK)
  if (!header.encode(block, 0)) return block
  const { path, size, linkpath = undefined } = data as typeof data & { readonly linkpath?: string }
  const pax = new Pax({ path, size, ...(linkpath === undefined ? {} : { linkpath }) })
  return Buffer.concat([pax.encode(), block])
}

async function* contentOf(
  root: string,
  { path, size }: Extract<FolderEntry, { kind: 'file' }>,
  files: Map<string, string>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const handle = await open(join(root, path), 'r')
  let read = 0
  try {
    for (;;) {
      const buffer = Buffer.allocUnsafe(READ_BYTES)
      const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, read)
      if (bytesRead === 0) break
      read += bytesRead
      if (read > size) break
      const part = buffer.subarray(0, bytesRead)
      hash.update(part)
      yield part
    }
  } finally {
    await handle.close()
  }
  if (read !== size)
    throw new ArchiveRefused(
      `${JSON.stringify(path)} changed while it was packed: it had ${size} bytes, now ${read > size ? 'more' : read}`,
    )
  files.set(path, hash.digest('hex'))
  if (size % BLOCK > 0) yield Buffer.alloc(BLOCK - (size % BLOCK))
}
