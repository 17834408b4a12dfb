import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ArchiveRefused } from './archive-refused.ts'
import { type FolderEntry, type LeavesOut, listFolder } from './list-folder.ts'
import { TAR_END, tarFilling, tarHeader } from './tar-parts.ts'

const READ_BYTES = 256 * 1024
/** One moment for all: the same content gives the same bytes. After 1980, which zip tools demand. */
const AT = Date.parse('2000-01-01T00:00:00Z')

export interface PackedFolder {
  readonly sha256: string
  readonly size: number
  /** The hash of each file as it was packed, by its path. */
  readonly files: ReadonlyMap<string, string>
}

/** Writes a folder as a tar that depends on names, contents, links and executable bits only, so equal folders have equal hashes. */
export async function packFolder(folder: string, archive: string, leavesOut?: LeavesOut): Promise<PackedFolder> {
  const entries = await listFolder(folder, leavesOut)
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
  yield TAR_END
}

function headerOf(entry: FolderEntry): Buffer {
  const { path, kind } = entry
  return tarHeader({
    path,
    kind,
    size: kind === 'file' ? entry.size : 0,
    executable: kind === 'file' && entry.executable,
    at: AT,
    target: kind === 'link' ? entry.target : undefined,
  })
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
  if (tarFilling(size).length > 0) yield tarFilling(size)
}
