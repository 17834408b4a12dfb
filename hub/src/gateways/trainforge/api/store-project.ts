import { createReadStream } from 'node:fs'
import { limitsOf } from '../../../engine/owner-limits.ts'
import { type BlobKey, WrongOffset } from '../../../outputs/artifacts/port.ts'
import { refuseTooMuch } from '../../../outputs/artifacts/refuse-too-much.ts'
import type { ConsumerContext } from './context.ts'
import type { TakenProject } from './take-project.ts'

const READ_BYTES = 256 * 1024
/** Someone else may send the same content at the same time. */
const TRIES = 5

/** Puts a project among the owner's content, where its job finds it. */
export async function storeProject(
  { blobs, engine }: Pick<ConsumerContext, 'blobs' | 'engine'>,
  owner: string,
  { file, sha256, size }: TakenProject['zip'],
): Promise<void> {
  const key: BlobKey = { owner, sha256 }
  const { bytes } = await engine.read(state => limitsOf(state, owner))
  await refuseTooMuch(blobs, key, size, bytes)
  for (let tries = 1; ; tries += 1) {
    const first = await blobs.offset(key)
    try {
      await blobs.put({ ...key, size, first, length: size - first, body: pieces(file, first) })
      return
    } catch (error) {
      if (!(error instanceof WrongOffset) || tries >= TRIES) throw error
    }
  }
}

async function* pieces(file: string, start: number): AsyncGenerator<readonly Uint8Array[], void> {
  for await (const chunk of createReadStream(file, { start, highWaterMark: READ_BYTES })) yield [chunk as Buffer]
}
