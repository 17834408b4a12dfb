import { copyFile, cp, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { OUTPUT_SCHEMAS } from '../output/schemas.ts'
import { type TerminalOptions, typeLine, useTestFolder } from '../test-terminal.ts'

const home = useTestFolder()
const JOBS = join(import.meta.dirname, '..', '..', '..', 'jobs')
const ENV = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/' }
let programs = ''

/** What the build puts beside the program. */
beforeEach(async () => {
  programs = join(home(), 'programs')
  await cp(join(JOBS, 'starter'), join(programs, 'starter'), { recursive: true })
  await copyFile(join(JOBS, 'emit', 'emit.py'), join(programs, 'starter', 'emit.py'))
})
const program = (argv: readonly string[], of: TerminalOptions = {}) =>
  typeLine(home(), ['program', ...argv], { programs, env: ENV, ...of })

test('a new program has its name everywhere and passes the check, once and as a session', async () => {
  const made = await program(['new', 'my-llm', '--json'])
  const { folder, files } = OUTPUT_SCHEMAS['program new'].parse(JSON.parse(made.stdout))
  expect(files).toEqual(['Dockerfile', 'README.md', 'build.sh', 'emit.py', 'preset.yaml', 'worker.py'])
  expect(await readdir(folder)).toEqual(files)
  for (const file of files) expect(await readFile(join(folder, file), 'utf8')).not.toContain('PROGRAM_NAME')
  expect(parse(await readFile(join(folder, 'preset.yaml'), 'utf8')).models['my-llm'].inference).toEqual({
    docker_image: 'my-llm:latest',
    command: ['python', '/app/worker.py'],
    env_vars: { MODEL_NAME: 'my-llm' },
  })
  expect((await stat(join(folder, 'build.sh'))).mode & 0o111).not.toBe(0)
  for (const how of [[], ['--session']]) {
    const argv = ['check', ...how, '--input', '{"name": "Ann"}', '--model', 'my-llm', '--', 'python3', 'worker.py']
    const checked = await program(argv, { folder })
    expect(checked.stdout).toContain('"Hello, Ann, from my-llm."')
    expect(checked.stdout).toContain('No mistakes.')
    expect(checked.code).toBe(0)
  }
})

test('a folder that is there stays as it is', async () => {
  await mkdir(join(home(), 'mine'))
  const ran = await program(['new', 'mine'])
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('is there already; nothing was written') })
  expect(await readdir(join(home(), 'mine'))).toEqual([])
})

test.each(['../up', '/abs', 'Big', 'a b', '.hidden', '-x-', 'a--b', 'a/b', 'ä', '', 'x'.repeat(61)])(
  'the name %j is refused',
  async name => {
    const ran = await program(['new', '--', name])
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('small letters, digits') })
  },
)

test('people are told what to type next', async () => {
  const { stdout } = await program(['new', 'echo2'])
  expect(stdout).toContain('cd echo2\n  stoker program check -- python3 worker.py')
  expect((await program(['new', 'quiet', '-q'])).stdout).toBe(`${join(home(), 'quiet')}\n`)
})
