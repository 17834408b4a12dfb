import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { faults } from '../../../net/src/content/test-blob-hub.ts'
import { InputCache } from './input-cache.ts'
import { anOffer, useTransfers } from './test-transfers.ts'

const there = useTransfers(25_000)
const names = async () => (await readdir(join(there().folder, 'cache'))).sort()
const { fence } = anOffer()

function hold(content: { sha256: string; size: number }, options = {}) {
  return there().cache.hold(content, there().contentOf(fence, content.sha256), { baseMs: 1, maxMs: 5, ...options })
}

it('fetches content once for all who want it at the same time, and not again later', async () => {
  const bytes = randomBytes(20_000)
  const content = there().hub.add(bytes)
  const told: number[] = []
  const held = await Promise.all([1, 2, 3].map(() => hold(content, { onBytes: (count: number) => told.push(count) })))
  expect(await readFile(held[2]?.path ?? '')).toEqual(bytes)
  expect(told.filter(count => count === 20_000).length).toBeGreaterThanOrEqual(3)
  await hold(content)
  expect(there().hub.seen.length).toBe(1)
  expect((await stat(held[0]?.path ?? '')).mode & 0o777).toBe(0o400)
})

it('lets the next one go on when the one that fetches is refused or canceled', async () => {
  const content = there().hub.add(randomBytes(20_000))
  there().hub.fail(faults('GET', { kind: 'answer', status: 409, code: 'stale.attempt' }, { kind: 'silent' }))
  const stale = hold(content)
  const stop = new AbortController()
  const canceled = hold(content, { signal: stop.signal, onWait: () => {} })
  const third = hold(content)
  await expect(stale).rejects.toMatchObject({ code: 'stale.attempt' })
  await expect.poll(() => there().hub.seen.length).toBe(2)
  stop.abort()
  await expect(canceled).rejects.toThrow()
  await expect(third).resolves.toMatchObject({ path: expect.stringContaining(content.sha256) })
})

it('removes what was unused longest when it grows too large, never what is held', async () => {
  const [a, b, c] = [1, 2, 3].map(() => there().hub.add(randomBytes(10_000)))
  if (a === undefined || b === undefined || c === undefined) throw new Error('three were made')
  const first = await hold(a)
  const second = await hold(b)
  second.release()
  await hold(c)
  expect(await names()).toEqual([a.sha256, c.sha256].sort())
  expect(there().cache.bytes).toBe(20_000)
  await hold(b)
  expect(await names()).toEqual([a.sha256, b.sha256, c.sha256].sort())
  first.release()
  await expect.poll(names).toEqual([b.sha256, c.sha256].sort())
})

it('goes on after a crash with what is whole and what is partly there, and clears the rest', async () => {
  const folder = join(there().folder, 'cache')
  const bytes = randomBytes(10_000)
  const whole = there().hub.add(randomBytes(5000))
  const part = there().hub.add(bytes)
  ;(await hold(whole)).release()
  await writeFile(join(folder, `partial-${part.sha256}`), bytes.subarray(0, 4000))
  await writeFile(join(folder, `partial-${'0'.repeat(64)}`), 'old')
  await utimes(join(folder, `partial-${'0'.repeat(64)}`), 1, 1)
  await writeFile(join(folder, 'foreign'), '')
  const again = await InputCache.open(folder, 25_000)
  await again.hold(whole, () => Promise.reject(new Error('it is here')))
  const held = await again.hold(part, there().contentOf(fence, part.sha256))
  expect(await readFile(held.path)).toEqual(bytes)
  expect(there().hub.seen.at(-1)?.headers.range).toBe('bytes=4000-')
  expect(await names()).toEqual([whole.sha256, part.sha256].sort())
})

it('never shows what came damaged', async () => {
  const content = there().hub.add(randomBytes(100))
  there().hub.fail(() => ({ kind: 'corrupt' }))
  await expect(hold(content)).rejects.toThrow(/another hash/)
  expect(await names()).toEqual([`partial-${content.sha256}`])
})
