import { createHash, hash } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** Large reads keep the hash, not the event loop, the slow part. */
const READ_BYTES = 1024 * 1024

/** Text is hashed as its UTF-8 bytes; the result is lower-case hex, as everywhere in the project. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data)
}

/** Reads the file in pieces, so its size does not matter to memory. */
export function sha256File(path: string): Promise<string> {
  return sha256Stream(createReadStream(path, { highWaterMark: READ_BYTES }))
}

/** Consumes the stream; an error of the stream rejects, so a partial hash is never returned. */
export async function sha256Stream(stream: AsyncIterable<string | Uint8Array>): Promise<string> {
  const digest = createHash('sha256')
  for await (const chunk of stream) digest.update(chunk)
  return digest.digest('hex')
}
