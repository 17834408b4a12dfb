import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { BlobTable } from '../contract/blob-table.ts'
import type { Blobs } from '../port.ts'
import { openDiskBlobs } from './disk-blobs.ts'

const SIZE = 12 * 1024 * 1024
let folder: string
let child: ChildProcess | null = null
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-blob-crash-'))
})
afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  await rm(folder, { recursive: true })
})

it('has what it promised of an upload after it was killed at any moment, and finishes it', async () => {
  for (const lines of [1, 7, 12, 13, 20]) {
    const promised = await runUntilKilled(lines, lines * 1000)
    const table = new BlobTable()
    const ports = { index: table, commit: table.commit.bind(table), now: Date.now, checkRoom: async () => {} }
    const blobs = await openDiskBlobs(folder, ports)
    for (const [n, offset] of promised) await expectFinishable(blobs, n, offset)
  }
}, 60_000)

async function expectFinishable(blobs: Blobs, n: number, promised: number): Promise<void> {
  const bytes = Buffer.alloc(SIZE, `content ${n} `)
  const key = { owner: 'ada', sha256: createHash('sha256').update(bytes).digest('hex') }
  const first = await blobs.offset(key)
  if (promised < SIZE) expect(first === 0 || first >= promised).toBe(true)
  const body = one(bytes.subarray(first))
  const done = await blobs.put({ ...key, size: SIZE, first, length: SIZE - first, body })
  expect(done).toMatchObject({ stored: { size: SIZE } })
  const hash = createHash('sha256')
  for await (const part of await blobs.read(key, 0, SIZE - 1)) hash.update(part)
  expect(hash.digest('hex')).toBe(key.sha256)
}

/** What each content was last said to have, in bytes. */
async function runUntilKilled(lines: number, from: number): Promise<Map<number, number>> {
  const program = fileURLToPath(new URL('./blob-crash-program.ts', import.meta.url))
  child = spawn(process.execPath, ['--import', 'tsx', program, folder, String(from)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  if (child.stdout === null) throw new Error('the program should have an output, it has none')
  const promised = new Map<number, number>()
  let seen = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const [n, offset] = line.split(' ')
    promised.set(Number(n), offset === 'whole' ? SIZE : Number(offset))
    seen++
    if (seen === lines) child.kill('SIGKILL')
  }
  expect((await gone)[1]).toBe('SIGKILL')
  return promised
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array[]> {
  yield [bytes]
}
