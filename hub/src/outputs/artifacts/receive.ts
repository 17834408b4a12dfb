import { bytesOf, PieceWriter } from './piece-writer.ts'
import { type Upload, UploadCut } from './port.ts'
import type { UploadSession } from './sessions.ts'
import type { UnfinishedFile } from './storage.ts'

/** Takes a body into the unfinished file, hashing on the way. Bytes past the announced length are not taken. Rejects with UploadCut when the body breaks off, all that came being synced. */
export async function receive(
  { body, length }: Upload,
  session: UploadSession,
  file: UnfinishedFile,
  checkRoom: () => Promise<void>,
): Promise<number> {
  const writer = new PieceWriter(session, file, checkRoom)
  let received = 0
  try {
    for await (const chunks of body) {
      const bytes = bytesOf(chunks)
      await mark(writer.take(received + bytes > length ? cut(chunks, length - received) : chunks))
      received += bytes
    }
  } catch (error) {
    if (error instanceof StorageFailed) throw error.cause
    await writer.finish()
    throw new UploadCut(received, length, error)
  }
  await writer.finish()
  return received
}

/** The first so many bytes. */
function cut(chunks: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  const whole = Buffer.concat(chunks)
  return bytes > 0 ? [whole.subarray(0, bytes)] : []
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
