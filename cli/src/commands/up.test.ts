import { mkdir, readFile, rm, watch, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { freePort } from '@stoker/net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TEST_TOKEN } from '../../../client/src/test-hub.ts'
import { OUTPUT_SCHEMAS } from '../output/schemas.ts'
import { compileStandIns, leftOvers } from '../processes/test-stand-in.ts'
import { typeLine, useTestFolder } from '../test-terminal.ts'

const home = useTestFolder()
let programs = ''

beforeEach(async () => {
  programs = await compileStandIns(join(home(), 'programs'))
})
afterEach(async () => expect(await leftOvers(home())).toEqual([]))

/** Never says that it is ready; where it keeps its pid comes behind --data. */
const SLOW_WORKER = `
import { writeFileSync } from 'node:fs'
setInterval(() => {}, 1000)
writeFileSync(process.argv[process.argv.indexOf('--data') + 1] + '/pid', String(process.pid))
`
const story = async () => (await readFile(join(home(), 'hub', 'story'), 'utf8')).trim().split('\n')
const pidOf = async (name: string) => Number(await readFile(join(home(), name, 'pid'), 'utf8').catch(() => 0))

/** Runs `up` until the text appears, then presses Ctrl-C once. */
function up(argv: readonly string[], until: string, onText: (text: string) => void = () => {}) {
  let isPressed = false
  const onWrite = (text: string, stop: () => void) => {
    onText(text)
    if (isPressed || !text.includes(until)) return
    isPressed = true
    stop()
  }
  return typeLine(home(), ['up', '--port', '0', ...argv], { programs, onWrite })
}

test('the first start shows address, token file and a real first job, never the token, and stops the worker before the hub', async () => {
  const { code, stdout, stderr } = await up([], 'Ctrl-C stops both.')
  expect(code).toBe(0)
  expect(stdout).toMatch(/hub +http:\/\/127\.0\.0\.1:\d+/)
  expect(stdout).toContain(join(home(), 'hub', 'admin-token'))
  expect(stdout).toContain('First job succeeded, it said: hello from box')
  expect(stdout).toContain('unsandboxed')
  expect(stdout + stderr).not.toContain(TEST_TOKEN)
  expect(await story()).toEqual([
    'hub started',
    'join token made',
    'worker started stk_join true',
    'worker stopped',
    'hub stopped',
  ])
})

test('the second start needs no join token and runs no first job', async () => {
  await up([], 'Ctrl-C stops both.')
  await rm(join(home(), 'hub', 'story'))
  const { stdout } = await up([], 'Ctrl-C stops both.')
  expect(stdout).not.toContain('First job')
  expect(await story()).toEqual(['hub started', 'worker started without token true', 'worker stopped', 'hub stopped'])
})

test('with --json it prints one value of its published form', async () => {
  const { stdout } = await up(['--json'], '"epoch"')
  expect(OUTPUT_SCHEMAS.up.parse(JSON.parse(stdout))).toMatchObject({
    context: 'local',
    worker: { id: 'w-1', name: 'box' },
  })
  const contexts = JSON.parse(await readFile(join(home(), 'contexts.json'), 'utf8'))
  expect(contexts).toMatchObject({ current: 'local', contexts: { local: { token: TEST_TOKEN } } })
})

test('a worker that dies is started again, which is said', async () => {
  let isKilled = false
  const { stderr } = await up([], 'the worker is back', text => {
    if (isKilled || !text.includes('Ctrl-C stops both.')) return
    isKilled = true
    void pidOf('worker').then(pid => process.kill(pid, 'SIGKILL'))
  })
  expect(stderr).toContain('the worker died: it was killed by SIGKILL; starting it again')
  expect((await story()).filter(line => line.startsWith('worker started'))).toHaveLength(2)
})

test('a hub that dies comes back on the same port', async () => {
  let isKilled = false
  const { stdout, stderr } = await up([], 'the hub is back', text => {
    if (isKilled || !text.includes('Ctrl-C stops both.')) return
    isKilled = true
    void pidOf('hub').then(pid => process.kill(pid, 'SIGKILL'))
  })
  expect(stderr).toContain('the hub died: it was killed by SIGKILL')
  const port = /127\.0\.0\.1:(\d+)/.exec(stdout)?.[1]
  expect((await readFile(join(home(), 'hub', 'ports'), 'utf8')).trim().split('\n')).toEqual([port, port])
})

test('Ctrl-C while the worker is still starting stops both', async () => {
  await writeFile(join(programs, 'worker.js'), SLOW_WORKER)
  await mkdir(join(home(), 'worker'))
  const seen = new AbortController()
  const onStart = async (stop: () => void) => {
    for await (const { filename } of watch(join(home(), 'worker'), { signal: seen.signal }))
      if (filename === 'pid') break
    stop()
  }
  const ran = await typeLine(home(), ['up', '--port', '0'], { programs, onStart })
  expect(ran).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('stopping') })
  expect((await story()).at(-1)).toBe('hub stopped')
})

test('a taken port is told with its number and the option, before anything starts', async () => {
  const other = createServer((_, response) => response.end('not a hub')).listen(0, '127.0.0.1')
  await new Promise(resolve => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const { code, stderr } = await typeLine(home(), ['up', '--port', String(port)], { programs })
  await new Promise(resolve => other.close(resolve))
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `stoker: port ${port} is taken by another program\n  choose another port:  --port ${port + 1}\n`,
  })
})

test('without a build it says what to run', async () => {
  const { code, stderr } = await typeLine(home(), ['up', '--port', String(await freePort())], { programs: home() })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('run npm run build') })
})
