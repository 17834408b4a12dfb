import { mkdir, mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { recovered } from '../contract/harness.ts'
import { aJob, insertJob, journaled, rowsOnly } from '../contract/sample-rows.ts'
import { openSqliteStore } from './open.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stoker-backup-'))
  await Promise.all(['live', 'copy'].map(name => mkdir(join(root, name))))
})
afterEach(() => removeTree(root))

it('copies one moment of a store that goes on, and the copy opens as a store', async () => {
  const live = await openSqliteStore({ folder: join(root, 'live') })
  await live.append(rowsOnly(...Array.from({ length: 2_000 }, (_, index) => insertJob(aJob(index + 1)))))
  let isCopied = false
  const copying = live.backup(join(root, 'copy', 'stoker.db')).then(() => {
    isCopied = true
  })
  let n = 0
  while (!isCopied) {
    n++
    await live.append(journaled(n, [insertJob(aJob(10_000 + n))]))
    await new Promise(setImmediate)
  }
  await copying
  const copy = await openSqliteStore({ folder: join(root, 'copy') })
  const then = await recovered(copy)
  const now = await recovered(live)
  expect(then.journal.n).toBeLessThanOrEqual(n)
  expect(then.live).toEqual(now.live.slice(0, 2_000 + then.journal.n))
  expect(await copy.queries.journalAfter(0, n)).toEqual(await live.queries.journalAfter(0, then.journal.n))
  await Promise.all([copy.close(), live.close()])
  expect(await readdir(join(root, 'copy'))).toEqual(['stoker.db'])
})

it('never replaces a file and leaves no partial copy', async () => {
  const store = await openSqliteStore({ folder: join(root, 'live') })
  await expect(store.backup(join(root, 'live', 'stoker.db'))).rejects.toThrow('exists already')
  await expect(store.backup(join(root, 'missing', 'b.db'))).rejects.toThrow()
  await store.close()
  expect(await readdir(join(root, 'live'))).toEqual(['stoker.db'])
  expect((await readdir(root)).sort()).toEqual(['copy', 'live'])
})
