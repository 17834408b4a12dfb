import { appendFile, open, readFile } from 'node:fs/promises'
import type { Fence, RowWrite } from '@stoker/protocol'
import { RowTable } from '../contract/row-table.ts'

interface Entry {
  readonly rows: readonly RowWrite[]
  readonly ended: readonly Fence[]
}

/** A store for the crash test: one synced line per commit; a half-written last line was never acknowledged. */
export async function openRowJournal(
  path: string,
): Promise<{ readonly table: RowTable; commit(entry: Partial<Entry>): Promise<void>; close(): Promise<void> }> {
  await appendFile(path, '')
  const whole = (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  const table = new RowTable()
  const apply = (entry: Partial<Entry>) => {
    table.commit(entry.rows ?? [])
    for (const fence of entry.ended ?? []) table.end(fence)
  }
  for (const line of whole) apply(JSON.parse(line))
  const file = await open(path, 'r+')
  let end = Buffer.byteLength(whole.map(line => `${line}\n`).join(''))
  await file.truncate(end)
  let last: Promise<unknown> = Promise.resolve()
  const commit = (entry: Partial<Entry>) => {
    const done = last.then(async () => {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`)
      await file.write(line, 0, line.length, end)
      await file.datasync()
      end += line.length
      apply(entry)
    })
    last = done
    return done
  }
  return { table, commit, close: () => file.close() }
}
