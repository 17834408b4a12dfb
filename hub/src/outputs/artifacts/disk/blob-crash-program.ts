import { createHash } from 'node:crypto'
import { BlobTable } from '../contract/blob-table.ts'
import { openDiskBlobs } from './disk-blobs.ts'

const MB = 1024 * 1024

/** Uploads one content after the other without pause, and says how much of each is promised, until it is killed. */
async function run(folder: string, from: number): Promise<never> {
  const table = new BlobTable()
  const commit = async () => {}
  const blobs = await openDiskBlobs(folder, { index: table, commit, now: Date.now, checkRoom: async () => {} })
  for (let n = from; ; n++) {
    const bytes = Buffer.alloc(12 * MB, `content ${n} `)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    for (let first = await blobs.offset({ owner: 'ada', sha256 }); first < bytes.length; ) {
      const length = Math.min(MB, bytes.length - first)
      const body = one(bytes.subarray(first, first + length))
      const done = await blobs.put({ owner: 'ada', sha256, size: bytes.length, first, length, body })
      first += length
      process.stdout.write(`${n} ${'stored' in done ? 'whole' : done.offset}\n`)
    }
  }
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array[]> {
  yield [bytes]
}

const [, , folder, from] = process.argv
if (folder === undefined) throw new Error('the program needs a folder, it was given none')
await run(folder, Number(from))
