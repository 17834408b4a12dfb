import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const MAIN = join(import.meta.dirname, 'main.ts')
const LAUNCHER = join(import.meta.dirname, '..', 'bin', 'stoker.js')

test('the program runs as a process and its exit code is that of the command', async () => {
  const help = await run(process.execPath, ['--import', 'tsx', MAIN, '--help'])
  expect(help.stdout).toContain('stoker run --files . -- python3 train.py')
  const wrong = await run(process.execPath, ['--import', 'tsx', MAIN, 'lsit']).catch((error: unknown) => error)
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean list?') })
})

test('the help loads commander and nothing heavy: no schemas, no client, no YAML', async () => {
  const { metafile } = await build({
    entryPoints: [MAIN],
    bundle: true,
    write: false,
    metafile: true,
    splitting: true,
    outdir: 'unwritten',
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  })
  const entry = Object.values(metafile.outputs).find(output => output.entryPoint?.endsWith('cli/src/main.ts'))
  const eager = entry?.imports.filter(one => one.kind === 'import-statement').map(one => one.path) ?? []
  const inputs = eager.flatMap(path => Object.keys(metafile.outputs[path]?.inputs ?? {}))
  expect(inputs.some(path => path.includes('node_modules/commander/'))).toBe(true)
  expect(inputs.filter(path => /node_modules\/(?!commander\/)|protocol\/src|client\/src/.test(path))).toEqual([])
})

test('the launcher says what to do where nothing is built', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-cli-'))
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await copyFile(LAUNCHER, join(folder, 'bin', 'stoker.js'))
  const failed = await run(process.execPath, [join(folder, 'bin', 'stoker.js')]).catch((error: unknown) => error)
  await rm(folder, { recursive: true })
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('npm run build') })
})
