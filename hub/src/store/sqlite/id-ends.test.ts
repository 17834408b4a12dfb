import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Connection, openConnection } from './connection.ts'
import { createIdEnds, findByEnd } from './id-ends.ts'

const idOf = (place: number, end: string) =>
  `0189${String(place).padStart(4, '0')}-0000-7000-8000-${end.padStart(12, '0')}`

let folder: string
let db: Connection
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'id-ends-'))
  db = openConnection(join(folder, 'db'), { readOnly: false, checkpointPages: 0, maxPages: null })
  db.exec('CREATE TABLE job (seq INTEGER PRIMARY KEY, id TEXT NOT NULL) STRICT; CREATE UNIQUE INDEX job_id ON job (id)')
})
afterEach(async () => {
  db.close()
  await rm(folder, { recursive: true })
})

/** Jobs whose ids end so, oldest first; looked at three at a time. */
function ask(ends: readonly string[], end: string) {
  const insert = db.prepare('INSERT INTO job VALUES (?, ?)')
  for (const [place, each] of ends.entries()) insert.run(place + 1, idOf(place, each))
  const look = createIdEnds(db, 3)
  const looks: (string | null)[] = []
  const found = findByEnd(end, async (digits, before) => {
    looks.push(before)
    return look(digits, before)
  })
  return { found, looks }
}

const SEVEN = ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee', 'ffff', 'aaab']

it('looks on in older parts, to the very first', async () => {
  const { found, looks } = ask(SEVEN, 'AAAA')
  expect(await found).toBe(idOf(0, 'aaaa'))
  expect(looks).toEqual([null, idOf(4, 'eeee'), idOf(1, 'bbbb')])
})

it('looks further though it has one, and stops at a second', async () => {
  const { found, looks } = ask([...SEVEN, '1bbbb', '2cccc'], 'cccc')
  expect(await found).toBe('many')
  expect(looks).toHaveLength(3)
  expect(await findByEnd('2-cccc', async (digits, before) => createIdEnds(db, 3)(digits, before))).toBe(
    idOf(8, '2cccc'),
  )
})

it('knows when there is none, also of an empty table', async () => {
  expect(await ask([], 'aaaa').found).toBeNull()
  const { found, looks } = ask(SEVEN.slice(0, 6), '9999')
  expect(await found).toBeNull()
  expect(looks).toHaveLength(3)
})
