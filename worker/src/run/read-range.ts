import { closeSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** What was just written is in memory, and so little of it is read sooner than another thread is asked to. */
const AT_ONCE_BYTES = 64 * 1024

/** A part of a file; shorter than asked for where the file ends. */
export async function readRange(path: string, offset: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, length <= AT_ONCE_BYTES ? fillAtOnce(bytes, path, offset) : await fill(bytes, path, offset))
}

function fillAtOnce(bytes: Buffer, path: string, offset: number): number {
  const fd = openSync(path, 'r')
  try {
    return readSync(fd, bytes, 0, bytes.length, offset)
  } finally {
    closeSync(fd)
  }
}

async function fill(bytes: Buffer, path: string, offset: number): Promise<number> {
  const file = await open(path)
  try {
    let read = 0
    while (read < bytes.length) {
      const { bytesRead } = await file.read(bytes, read, bytes.length - read, offset + read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    return read
  } finally {
    await file.close()
  }
}
