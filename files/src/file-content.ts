import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { sha256Stream } from './sha256.ts'

/** Large enough that handing a read to another thread costs little beside it. */
const READ_BYTES = 1024 * 1024

/** An open file and the hash of what it held when it was opened. */
export interface FileContent {
  readonly sha256: string
  readonly size: number
  readonly executable: boolean
  /** Exactly these bytes; throws FileChanged rather than give others than those that were hashed. A part is good until the next is asked for. */
  readonly read: (from: number, to: number) => AsyncIterable<Uint8Array>
  readonly close: () => Promise<void>
}

/** Someone wrote to the file after it was hashed. */
export class FileChanged extends Error {
  constructor(name: string) {
    super(`${JSON.stringify(name)} changed while it was being read`)
    this.name = 'FileChanged'
  }
}

/** Opens a regular file and nothing else: the last name is never followed as a link, and a pipe cannot block. `name` is for sentences; a hash known before is believed. */
export async function openFileContent(
  path: string,
  { name = path, sha256 }: { readonly name?: string; readonly sha256?: string } = {},
): Promise<FileContent> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = await handle.stat({ bigint: true })
    if (!stat.isFile()) throw new Error(`${JSON.stringify(name)} should be a file, it is something else`)
    const size = Number(stat.size)
    const changed = async () => {
      const now = await handle.stat({ bigint: true })
      return now.size !== stat.size || now.mtimeNs !== stat.mtimeNs || now.ctimeNs !== stat.ctimeNs
    }
    const hashed = sha256 ?? (await sha256Stream(rangeOf(handle, 0, size, name)))
    if (await changed()) throw new FileChanged(name)
    return {
      sha256: hashed,
      size,
      executable: (stat.mode & 0o111n) !== 0n,
      async *read(from, to) {
        yield* rangeOf(handle, from, to, name)
        if (await changed()) throw new FileChanged(name)
      },
      close: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The next part is read while the one before is in use; two buffers in turns, so that a large file costs no more memory, and no collecting of it, than a small one. */
async function* rangeOf(handle: FileHandle, from: number, to: number, name: string): AsyncGenerator<Uint8Array> {
  const bytes = Math.min(READ_BYTES, to - from)
  let [buffer, other] = [Buffer.allocUnsafe(bytes), Buffer.allocUnsafe(bytes)]
  const readAt = async (at: number): Promise<Uint8Array> => {
    ;[buffer, other] = [other, buffer]
    const { bytesRead } = await handle.read(buffer, 0, Math.min(bytes, to - at), at)
    if (bytesRead === 0) throw new FileChanged(name)
    return buffer.subarray(0, bytesRead)
  }
  let next = from < to ? readAt(from) : null
  for (let at = from; next !== null; ) {
    const part: Uint8Array = await next
    at += part.length
    next = at < to ? readAt(at) : null
    next?.catch(() => undefined)
    yield part
  }
}
