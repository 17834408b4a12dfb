import { join } from 'node:path'
import { openDiskStreams } from './disk-streams.ts'
import { openRowJournal } from './row-journal.ts'
import { contentByte } from './written-content.ts'

/** Appends, ends and seals without pause, and says what was acknowledged, until it is killed. */
async function run(folder: string): Promise<never> {
  const journal = await openRowJournal(join(folder, 'rows.jsonl'))
  const streams = await openDiskStreams({
    folder,
    queries: journal.table,
    commit: rows => journal.commit({ rows }),
    segmentBytes: 20_000,
    now: Date.now,
  })
  const lives = Array.from({ length: 8 }, async (_, lane) => {
    for (let job = lane; ; job += 8) {
      const fence = { job, epoch: 1, attempt: 1 }
      let { stdout: offset } = await streams.sizes(fence)
      for (; offset < 5_000 + lane * 3_000; ) {
        const length = 1 + ((offset * 31 + job) % 900)
        const from = offset
        const bytes = Uint8Array.from({ length }, (_, i) => contentByte(job, from + i))
        const rows = await streams.append([{ fence, stream: 'stdout', offset, at: offset, bytes }])
        const ended = offset + length >= 5_000 + lane * 3_000 ? [fence] : []
        await journal.commit({ rows, ended })
        streams.committed(rows)
        offset += length
        process.stdout.write(`${job} ${offset}\n`)
      }
      streams.ended(fence)
    }
  })
  const sweeping = async () => {
    for (;;) {
      await streams.sweep()
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  await Promise.race([...lives, sweeping()])
  throw new Error('the program should run until it is killed, it ended')
}

const [, , folder] = process.argv
if (folder === undefined) throw new Error('the program needs a folder, it was given none')
await run(folder)
