import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readAll } from '../contract/reading.ts'
import { checkStreams } from './check-streams.ts'
import { openDiskStreams } from './disk-streams.ts'
import { openRowJournal } from './row-journal.ts'
import { contentByte } from './written-content.ts'

let folder: string
let child: ChildProcess | null = null

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-crash-'))
})
afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  await rm(folder, { recursive: true })
})

it('has every acknowledged byte after it was killed at any moment, again and again', async () => {
  const acknowledged = new Map<number, number>()
  for (const acks of [150, 700, 37, 1_200]) {
    await runUntilKilled(acks, acknowledged)
    await expectReadable(acknowledged)
  }
  expect((await readdir(join(folder, 'packs'))).length).toBeGreaterThan(0)
}, 60_000)

async function runUntilKilled(acks: number, acknowledged: Map<number, number>): Promise<void> {
  const program = fileURLToPath(new URL('./crash-program.ts', import.meta.url))
  child = spawn(process.execPath, ['--import', 'tsx', program, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = once(child, 'exit')
  if (child.stdout === null) throw new Error('the program should have an output, it has none')
  let seen = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const [job, end] = line.split(' ').map(Number)
    if (job !== undefined && end !== undefined) acknowledged.set(job, Math.max(end, acknowledged.get(job) ?? 0))
    seen++
    if (seen === acks) child.kill('SIGKILL')
  }
  expect((await gone)[1]).toBe('SIGKILL')
}

async function expectReadable(acknowledged: ReadonlyMap<number, number>): Promise<void> {
  const journal = await openRowJournal(join(folder, 'rows.jsonl'))
  expect(await checkStreams(folder, journal.table.allRows())).toEqual([])
  const commit = () => Promise.reject(new Error('a reader should seal nothing, it did'))
  const streams = await openDiskStreams({ folder, queries: journal.table, commit, now: Date.now })
  try {
    for (const [job, end] of acknowledged) {
      const { stdout } = await readAll(streams, { job, epoch: 1, attempt: 1 })
      expect(stdout.length).toBeGreaterThanOrEqual(end)
      const wrong = Buffer.from(stdout, 'latin1').findIndex((byte, offset) => byte !== contentByte(job, offset))
      expect(wrong).toBe(-1)
    }
  } finally {
    await streams.close()
    await journal.close()
  }
}
