import { type Upload, UploadCut } from './port.ts'
import type { UploadSession } from './sessions.ts'
import type { UnfinishedFile } from './storage.ts'

/** Enough for one write to be worth its call. */
const WRITE_BYTES = 512 * 1024
/** What a crash may cost an upload, and what one sync keeps others waiting for. */
const SYNC_BYTES = 8 * 1024 * 1024

/** Takes a body into the unfinished file, hashing on the way. Bytes past the announced length are not taken. Rejects with UploadCut when the body breaks off, all that came being synced. */
export async function receive(
  { body, length }: Upload,
  session: UploadSession,
  file: UnfinishedFile,
  checkRoom: () => Promise<void>,
): Promise<number> {
  let received = 0
  let waiting: Uint8Array[] = []
  let waitingBytes = 0

  async function write(): Promise<void> {
    if (waitingBytes === 0) return
    await file.append(waiting)
    for (const chunk of waiting) session.hash.update(chunk)
    session.length += waitingBytes
    waiting = []
    waitingBytes = 0
  }

  async function sync(): Promise<void> {
    await write()
    if (session.synced === session.length) return
    await file.sync()
    session.synced = session.length
  }

  try {
    for await (const chunk of body) {
      const taken = chunk.subarray(0, Math.max(0, length - received))
      received += chunk.length
      if (taken.length > 0) waiting.push(taken)
      waitingBytes += taken.length
      if (waitingBytes >= WRITE_BYTES) await mark(write())
      if (session.length - session.synced >= SYNC_BYTES) {
        await mark(sync())
        await mark(checkRoom())
      }
    }
  } catch (error) {
    if (error instanceof StorageFailed) throw error.cause
    await sync()
    throw new UploadCut(received, length, error)
  }
  await sync()
  return received
}

/** Tells our own failures from those of the body, which look alike in one loop. */
class StorageFailed extends Error {}

async function mark(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (cause) {
    throw new StorageFailed('storage', { cause })
  }
}
