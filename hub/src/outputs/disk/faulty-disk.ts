import { type AppendFile, createFile } from './append-file.ts'

/** Real files on a disk that can be told to be full or broken, and that counts its syncs. */
export class FaultyDisk {
  syncs = 0
  openFiles = 0
  /** Bytes that may still be written. */
  roomBytes = Number.POSITIVE_INFINITY
  /** How many writes find no room before there is some again. */
  refusals = 0
  syncError: string | null = null
  /** Done once, before the next write. */
  beforeWrite: (() => void) | null = null
  /** Done once, before the next sync. */
  beforeSync: (() => Promise<void>) | null = null

  readonly create = async (path: string): Promise<AppendFile> => {
    const file = await createFile(path)
    this.openFiles++
    const write = async (bytes: Uint8Array, offset: number, length: number, position: number) => {
      const first = this.beforeWrite
      this.beforeWrite = null
      first?.()
      if (this.roomBytes === 0 || this.refusals-- > 0) throw systemError('ENOSPC')
      const kept = Math.min(length, this.roomBytes)
      this.roomBytes -= kept
      return file.write(bytes, offset, kept, position)
    }
    return {
      write: write as AppendFile['write'],
      truncate: length => file.truncate(length),
      datasync: async () => {
        this.syncs++
        const first = this.beforeSync
        this.beforeSync = null
        await first?.()
        return this.syncError === null ? file.datasync() : Promise.reject(systemError(this.syncError))
      },
      close: () => {
        this.openFiles--
        return file.close()
      },
    }
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: the test's disk said so`), { code })
}
