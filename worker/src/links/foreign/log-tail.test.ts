import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { lastLines, nextLines } from './log-tail.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stoker-tail-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const START = { stdout: 0, stderr: 0 }
const write = (stdout: string, stderr = '') => {
  writeFileSync(join(folder, 'stdout'), stdout)
  writeFileSync(join(folder, 'stderr'), stderr)
  return { stdout: Buffer.byteLength(stdout), stderr: Buffer.byteLength(stderr) }
}

it('gives whole lines, and the rest when the program has ended', async () => {
  const sizes = write('one\ntwo', 'aside\n')
  const part = await nextLines(folder, START, sizes, { max: 10, hasEnded: false })
  expect(part.lines.map(({ text }) => text)).toEqual(['aside', 'one'])
  expect(part).toMatchObject({ upTo: { stdout: 4, stderr: 6 }, hasMoved: true, hasMore: true })
  const rest = await nextLines(folder, part.upTo, sizes, { max: 10, hasEnded: true })
  expect(rest).toMatchObject({ lines: [{ stream: 'stdout', text: 'two' }], hasMore: false })
})

it('goes on where the last part ended, never with more lines than asked for', async () => {
  const sizes = write(Array.from({ length: 25 }, (_, i) => `${i}\n`).join(''))
  const seen: string[] = []
  for (let from = START, more = true; more; ) {
    const part = await nextLines(folder, from, sizes, { max: 10, hasEnded: true })
    expect(part.lines.length).toBeLessThanOrEqual(10)
    seen.push(...part.lines.map(({ text }) => text))
    from = part.upTo
    more = part.hasMore
  }
  expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => String(i)))
})

it('leaves out events, but not what they log', async () => {
  const events = [
    { event: 'progress', percent: 3 },
    { event: 'logs', log: 'said', level: 'error' },
  ]
  const sizes = write(`${events.map(event => JSON.stringify(event)).join('\n')}\n`)
  const part = await nextLines(folder, START, sizes, { max: 10, hasEnded: false })
  expect(part.lines).toEqual([{ stream: 'stdout', level: 'error', text: 'said' }])
  expect(part.hasMore).toBe(false)
})

it('says how much it leaves out of a flood', async () => {
  const sizes = write(`${'x'.repeat(99)}\n`.repeat(60_000))
  const part = await nextLines(folder, START, sizes, { max: 10, hasEnded: false })
  expect(part.lines[0]?.text).toMatch(/^… \d+ bytes of stdout are left out here$/)
  expect(sizes.stdout - part.upTo.stdout).toBe(2 * 2 ** 20)
})

it('does not wait for the end of a line that never ends', async () => {
  const sizes = write('x'.repeat(300 * 1024))
  const part = await nextLines(folder, START, sizes, { max: 10, hasEnded: false })
  expect(part.lines).toHaveLength(1)
  expect(part.upTo.stdout).toBe(256 * 1024)
})

it('has the last lines of a stream, and none of one that is empty or gone', async () => {
  const { stdout } = write('1\n2\n3\n4')
  expect(await lastLines(folder, 'stdout', stdout, 2)).toEqual(['3', '4'])
  expect(await lastLines(folder, 'stderr', 0, 2)).toEqual([])
  expect(await lastLines(join(folder, 'gone'), 'stdout', 10, 2)).toEqual([])
})
