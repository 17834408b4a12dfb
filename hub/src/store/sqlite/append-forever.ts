import type { RowWrite } from '@stoker/protocol'
import { aJob, insertJob, journaled } from '../contract/sample-rows.ts'
import { openSqliteStore } from './open.ts'

/** A program for the crash test: appends small and large commits to the folder it is given and prints the number of each once it is durable. */
async function appendForever(folder: string): Promise<never> {
  const store = await openSqliteStore({ folder })
  for (let n = (await store.journalEnd()).n + 1; ; n++) {
    await store.append(journaled(n, rowsOf(n)))
    process.stdout.write(`${n}\n`)
  }
}

/** Commit n has as many jobs as its number says, so that a torn commit shows. */
function rowsOf(n: number): readonly RowWrite[] {
  const count = n % 5 === 0 ? 200 : 3
  return Array.from({ length: count }, (_, index) => insertJob(aJob(n * 1_000 + index, { priority: n })))
}

await appendForever(process.argv[2] ?? '.')
