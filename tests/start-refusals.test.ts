import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ChildProgram } from './harness/child-program.ts'
import { House } from './harness/house.ts'
import { becomes, ended, logOf, run } from './harness/jobs.ts'
import { counted, counting, marksOf, openGate, upTo } from './harness/programs.ts'

let house: House

beforeEach(async () => {
  house = await House.open({ damaged: true })
})

afterEach(async () => {
  await house.close()
})

const serve = (data: string) => house.hubProgram(['serve', '--data', house.path(data), '--port', String(house.port)])

async function expectRefusal(program: ChildProgram, sentence: RegExp): Promise<void> {
  expect(await program.exited).toEqual({ code: 1, signal: null })
  expect(program.stderr).toMatch(sentence)
  expect(program.stderr.trim().split('\n')).toHaveLength(1)
  expect(program.stdout).toBe('')
}

/** A data folder with a database a hub has used and left in order. */
async function usedFolder(): Promise<string> {
  const hub = await house.startHub()
  expect(await hub.stop()).toEqual({ code: 0, signal: null })
  return house.path('hub', 'stoker.db')
}

async function writeDatabase(file: string, sql: string): Promise<void> {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

it('refuses a file that is no database', async () => {
  await mkdir(house.path('hub'))
  await writeFile(house.path('hub', 'stoker.db'), 'this is a letter to my aunt, not a database\n'.repeat(100))
  await expectRefusal(serve('hub'), /stoker\.db is not a SQLite database; a stoker database is needed/)
})

it('refuses a damaged database and does not touch it', async () => {
  const file = await usedFolder()
  const bytes = await readFile(file)
  bytes.fill(0xa5, 4096, bytes.length)
  await writeFile(file, bytes)
  await expectRefusal(serve('hub'), /stoker\.db is damaged; a stoker database is needed: restore a backup/)
  expect((await readFile(file)).equals(bytes)).toBe(true)
})

it("refuses another program's database", async () => {
  await mkdir(house.path('hub'))
  await writeDatabase(house.path('hub', 'stoker.db'), 'CREATE TABLE recipes (name TEXT)')
  await expectRefusal(serve('hub'), /is a SQLite database of another program \(application id 0, ours is \d+\)/)
})

it('refuses a database of a newer version', async () => {
  await writeDatabase(await usedFolder(), 'PRAGMA user_version = 99')
  await expectRefusal(serve('hub'), /has schema 99, this stoker knows schemas up to \d+: upgrade stoker/)
})

it('refuses a data folder that a living hub or worker owns', async () => {
  const hub = await house.startHub()
  const worker = await house.startWorker('w')
  await expectRefusal(serve('hub'), new RegExp(`hub can have one owner, process ${hub.pid} has owned it since `))
  const twin = await house.launchWorker('w', { joins: false })
  await expectRefusal(twin, new RegExp(`w can have one owner, process ${worker.pid} has owned it since `))
  expect(await run(house.client, { type: 'echo' })).toMatchObject({ state: 'succeeded' })
})

it('refuses a port that is taken, and leaves its data folder free', async () => {
  const other = createServer().listen(house.port, '127.0.0.1')
  await once(other, 'listening')
  await expectRefusal(serve('hub'), /EADDRINUSE.*another hub or program listens there, choose another with --port/)
  other.close()
  await once(other, 'close')
  await house.startHub()
})

it('refuses a worker without a join token, and one whose hub address is no address', async () => {
  await house.startHub()
  const stranger = await house.launchWorker('w', { joins: false })
  expect(await stranger.exited).toEqual({ code: 1, signal: null })
  expect(stranger.stderr).toContain('is not known here and brings no valid join token')
  const lost = house.workerProgram(['--hub', 'somewhere', '--data', house.path('w2')])
  await expectRefusal(lost, /--hub is an http or https address, found somewhere/)
})

it('restores a backup of a running hub into a new folder, where workers and their programs go on', async () => {
  const hub = await house.startHub()
  const { client } = house
  const worker = await house.startWorker('w', { args: ['--max-jobs', '8'] })
  const specs = upTo(6).map(mark => counting(house, { mark, lines: 300, gate: mark < 4 ? undefined : 'after' }))
  const ids = (await client.submitMany(specs)).map(({ id }) => id)
  for (const id of ids.slice(0, 4)) await ended(client, id)
  for (const id of ids.slice(4)) await becomes(client, id, 'running')
  const epoch = (await client.health()).epoch

  const backup = house.hubProgram(['backup', '--data', house.path('hub'), '--to', house.path('backup')])
  expect({ ...(await backup.exited), said: backup.stderr }).toEqual({ code: 0, signal: null, said: '' })
  await hub.kill()
  const restore = house.hubProgram(['restore', '--from', house.path('backup'), '--data', house.path('restored')])
  expect({ ...(await restore.exited), said: restore.stderr }).toEqual({ code: 0, signal: null, said: '' })
  await house.startHub({ data: 'restored' })
  expect((await client.health()).epoch).toBeGreaterThan(epoch)
  await expect.poll(() => worker.stderr, { timeout: 10_000 }).toContain('connected to the hub again')
  await openGate(house, 'after')
  for (const id of ids) {
    expect(await ended(client, id)).toMatchObject({ state: 'succeeded', attempts: 1, lost: 0 })
    expect(await logOf(client, id)).toBe(counted(300))
  }
  expect(await marksOf(house)).toEqual(upTo(6))
  expect(await run(client, { type: 'echo' })).toMatchObject({ state: 'succeeded' })
  await house.expectSound('restored')
  const again = house.hubProgram(['restore', '--from', house.path('backup'), '--data', house.path('hub')])
  await expectRefusal(again, /a restore needs an empty data folder, .*hub has files in it/)
})
