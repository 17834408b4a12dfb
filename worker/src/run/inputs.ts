import { constants } from 'node:fs'
import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { atOnce, mergeFolder, unpackArchive } from '@stoker/files'
import { type InputFile, isInnerPath, type Offer } from '@stoker/protocol'
import { tally } from '../artifacts/tally.ts'
import type { Transfers } from '../artifacts/transfers.ts'

const AT_ONCE = 4

export interface InputWatch {
  readonly signal: AbortSignal
  /** Bytes that are here, of all; also called while nothing moves and that is known: the hub is away and waited for. */
  readonly onBytes: (here: number, all: number) => void
}

/** Fills the work folder with copies of the job's files: a program may do with them what it likes, the cache stays as it is. */
export async function placeInputs(
  offer: Offer,
  folder: string,
  transfers: Transfers,
  watch: InputWatch,
): Promise<void> {
  const { files } = offer.spec
  const all = files.reduce((sum, { size }) => sum + size, 0)
  let here = 0
  const moved = tally(bytes => {
    here = bytes
    watch.onBytes(here, all)
  })
  await atOnce(AT_ONCE, files, async (file, index) => {
    const held = await transfers.cache.hold(file, transfers.contentOf(offer.fence, file.sha256), {
      signal: watch.signal,
      bandwidth: transfers.bandwidth,
      onBytes: bytes => moved(index, bytes),
      onWait: () => watch.onBytes(here, all),
    })
    try {
      await place(file, held.path, folder, index)
    } finally {
      held.release()
    }
  })
}

async function place(file: InputFile, cached: string, folder: string, index: number): Promise<void> {
  const work = join(folder, 'work')
  if (file.path !== '.' && !isInnerPath(file.path)) throw new Error(`input ${JSON.stringify(file.path)} leads outside`)
  const target = join(work, file.path)
  if (file.unpack === null) {
    await mkdir(dirname(target), { recursive: true })
    await copyFile(cached, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE).catch(cause => {
      throw new Error(`input ${JSON.stringify(file.path)} could not be put in place: ${cause.message}`, { cause })
    })
    await chmod(target, file.executable ? 0o755 : 0o644)
    return
  }
  const fresh = join(folder, `unpack-${index}`)
  try {
    await unpackArchive(cached, file.unpack, fresh)
    await mkdir(target, { recursive: true })
    await mergeFolder(fresh, target)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`input ${JSON.stringify(file.path)} could not be unpacked: ${reason}`, { cause })
  }
}
