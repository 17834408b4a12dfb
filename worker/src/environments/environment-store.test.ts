import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { environmentKey } from './environment-key.ts'
import type { EnvironmentStore } from './environment-store.ts'
import { makeRoom } from './make-room.ts'
import { aWatch, aWish, EnvironmentBench, FakeInstaller } from './test-environments.ts'

let bench: EnvironmentBench
let installer: FakeInstaller
let store: EnvironmentStore
let now = 1_000_000_000_000
let changes = 0
beforeEach(async () => {
  bench = await EnvironmentBench.open()
  installer = new FakeInstaller()
  changes = 0
  const changed = () => {
    changes += 1
  }
  store = await bench.store(installer, { now: () => ++now, changed })
})
afterEach(() => bench.close())

const begun = (count: number) => expect.poll(() => installer.orders.length, { interval: 5 }).toBe(count)

/** One environment, held by the named folder. */
async function made(requirements: string, holder: string, bytes = 10): Promise<string> {
  const before = installer.orders.length
  const holding = store.hold(aWish(requirements), await bench.holder(holder), aWatch())
  await begun(before + 1)
  await installer.succeeds([requirements], bytes)
  return holding
}

it('one that is there is given at once', async () => {
  const path = await made('six', 'a')
  expect(await store.hold(aWish('Six  # same'), await bench.holder('b'), aWatch())).toBe(path)
  expect(installer.orders).toHaveLength(1)
  expect(await store.shelf.list()).toMatchObject([{ packages: ['six'], requirements: 'six', holders: 2 }])
  expect(changes).toBe(1)
})

it('all who want the same wait for one installation, and hear all of it', async () => {
  const [first, second] = [aWatch(), aWatch()]
  const one = store.hold(aWish('six'), await bench.holder('a'), first)
  await begun(1)
  await installer.says('stderr', 'Collecting six\n')
  const other = store.hold(aWish('six'), await bench.holder('b'), second)
  await installer.says('stdout', `${JSON.stringify({ collected: 1, name: 'six', total: 4, installed: 1, bytes: 9 })}\n`)
  await expect.poll(() => second.heard.operations, { interval: 5 }).toEqual(['installing 1 of 4 packages'])
  await installer.succeeds()
  expect(await one).toBe(await other)
  expect(installer.orders).toHaveLength(1)
})

it('a failure is told to all who waited, and tried anew by the next', async () => {
  const waiting = [1, 2].map(async n => store.hold(aWish('six'), await bench.holder(`${n}`), aWatch()))
  await begun(1)
  await installer.fails('ERROR: No matching distribution found for six\n')
  for (const each of await Promise.allSettled(waiting))
    expect(each).toMatchObject({ reason: { message: expect.stringContaining('six could not be installed') } })
  expect(store.failureOf(aWish('six'))).toContain('six could not be installed')
  expect(await readdir(store.shelf.building)).toEqual([])
  await made('six', 'c')
  expect(store.failureOf(aWish('six'))).toBeNull()
})

it('it goes on while one waits, and ends with the last', async () => {
  const [first, second] = [aWatch(), aWatch()]
  const one = store.hold(aWish('six'), await bench.holder('a'), first)
  const other = store.hold(aWish('six'), await bench.holder('b'), second)
  await begun(1)
  first.stop.abort(new Error('canceled'))
  await expect(one).rejects.toThrow('canceled')
  second.stop.abort(new Error('canceled too'))
  await expect(other).rejects.toThrow('canceled too')
  expect(await readdir(store.shelf.building)).toEqual([])
  await made('six', 'c')
  expect(installer.orders).toHaveLength(2)
})

it('two workers that share a folder install once', async () => {
  const elsewhere = new FakeInstaller()
  const other = await bench.store(elsewhere)
  const watch = aWatch()
  const one = store.hold(aWish('six'), await bench.holder('a'), aWatch())
  await begun(1)
  const two = other.hold(aWish('six'), await bench.holder('b'), watch)
  await expect
    .poll(() => watch.heard.operations, { interval: 5 })
    .toEqual([expect.stringMatching(/^waiting for process/)])
  await installer.succeeds()
  expect(await two).toBe(await one)
  expect(elsewhere.orders).toEqual([])
})

it('above the limit the longest unused goes first, and never one in use', async () => {
  await made('a', 'gone', 50_000)
  await made('b', 'user', 50_000)
  await made('c', 'gone', 50_000)
  await store.hold(aWish('a'), await bench.holder('gone'), aWatch())
  await rm(join(bench.root, 'gone'), { recursive: true })
  const { environments } = await makeRoom(store.shelf, 130_000)
  expect(environments).toEqual([environmentKey(aWish('c'))])
  expect((await makeRoom(store.shelf, 0)).environments).toEqual([environmentKey(aWish('a'))])
  expect(await store.shelf.list()).toMatchObject([{ requirements: 'b', holders: 1 }])
  expect(await readdir(store.shelf.building)).toEqual([])
})

it('what cannot be installed is told before anything is tried', async () => {
  const closed = await bench.store(installer, { means: async () => 'no network for pip' })
  await expect(closed.hold(aWish('six'), await bench.holder('a'), aWatch())).rejects.toThrow('no network for pip')
  expect(installer.orders).toEqual([])
})
