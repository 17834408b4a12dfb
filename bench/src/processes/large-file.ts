import { createHash, randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'

const BLOCK_BYTES = 2 ** 20

/** A file no one has seen before, on the disk when this resolves; answers the hash of what is in it. */
export async function writeLargeFile(path: string, bytes: number): Promise<string> {
  const block = randomBytes(BLOCK_BYTES)
  const hash = createHash('sha256')
  const file = await open(path, 'w')
  try {
    for (let at = 0; at < bytes; at += BLOCK_BYTES) {
      await file.write(block)
      hash.update(block)
    }
    await file.datasync()
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

/** A job that leaves such a file: the stamp it prints is the moment the file is there. */
export function largeOutputJob(bytes: number) {
  const program = `
import os, time
block = os.urandom(${BLOCK_BYTES})
with open("large.bin", "wb") as file:
    for _ in range(${Math.ceil(bytes / BLOCK_BYTES)}):
        file.write(block)
    os.fdatasync(file.fileno())
print(f"stamp {time.time() * 1000:.3f}", flush=True)
`
  return { command: ['python3', '-c', program], outputs: ['large.bin'], resources: { cpus: 0 } }
}
