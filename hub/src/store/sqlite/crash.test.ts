import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openSqliteStore } from './open.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-crash-'))
})
afterEach(() => removeTree(folder))

/** Runs the appender and kills it once it has acknowledged so many commits; answers the last one it acknowledged. */
async function appendUntilKilled(commits: number): Promise<number> {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', 'append-forever.ts', folder], {
    cwd: here,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  let first = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    first ||= Number.parseInt(output, 10)
    if (lastLine(output) >= first + commits) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'close')
  expect(signal).toBe('SIGKILL')
  return lastLine(output)
}

function lastLine(output: string): number {
  return Number(output.slice(0, output.lastIndexOf('\n')).split('\n').at(-1))
}

it('has every acknowledged commit whole after kill -9, again and again', async () => {
  for (const commits of [7, 40, 153]) {
    const acknowledged = await appendUntilKilled(commits)
    const store = await openSqliteStore({ folder })
    const { n } = await store.journalEnd()
    expect(n).toBeGreaterThanOrEqual(acknowledged)
    expect((await store.queries.journalAfter(0, n + 1)).map(row => row.n)).toEqual(upTo(n))
    const jobs = await store.queries.scan('job', 0, 1_000_000)
    const counts = upTo(n).map(commit => jobs.filter(job => job.priority === commit).length)
    expect(counts).toEqual(upTo(n).map(commit => (commit % 5 === 0 ? 200 : 3)))
    await store.close()
  }
}, 60_000)

function upTo(n: number): readonly number[] {
  return Array.from({ length: n }, (_, index) => index + 1)
}
