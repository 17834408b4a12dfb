import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'
import type { SeedRun } from './report.ts'

const run = promisify(execFile)

it('gives the same runs in the same order as one thread, as the program people have', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-sim-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const program = join(folder, 'sim.mjs')
  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" }
  const main = join(import.meta.dirname, 'main.ts')
  await build({ entryPoints: [main], outfile: program, bundle: true, platform: 'node', format: 'esm', banner })
  const runs = async (threads: string): Promise<readonly Omit<SeedRun, 'realMs'>[]> => {
    const args = [program, '--seeds', '5', '--jobs', '20', '--threads', threads, '--json']
    const all: readonly SeedRun[] = JSON.parse((await run(process.execPath, args)).stdout)
    return all.map(({ realMs: _, ...rest }) => rest)
  }
  const sideBySide = await runs('2')
  expect(sideBySide.map(({ seed }) => seed)).toEqual([1, 2, 3, 4, 5])
  expect(sideBySide).toEqual(await runs('1'))
})
