import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { reply } from '../../../client/src/test-hub.ts'
import { clockFinding } from '../doctor/clock.ts'
import { OUTPUT_SCHEMAS } from '../output/schemas.ts'
import { type TerminalOptions, useTestHub } from '../test-terminal.ts'

const { hub, stoker, home } = useTestHub()
const AT = Date.parse('2026-01-01T00:00:10.000Z')
let programs = ''

beforeEach(async () => {
  programs = join(home(), 'programs')
  await mkdir(programs)
  await finds({ check: 'sandbox', level: 'ok', text: 'a sandbox ran', todo: null })
  hub().on('GET /api/v1/me', (_, response) => reply(response, 200, { owner: 'ann', role: 'admin', tokenId: 't' }))
  hub().on('GET /api/v1/workers', (_, response) => reply(response, 200, { workers: [] }))
})

/** A stand-in for the program that looks at the machine. */
async function finds(...findings: readonly unknown[]): Promise<void> {
  await writeFile(join(programs, 'package.json'), '{"type":"module"}')
  await writeFile(join(programs, 'doctor.js'), `console.log(${JSON.stringify(JSON.stringify({ findings }))})`)
}
const doctor = (argv: readonly string[] = [], of: TerminalOptions = {}) =>
  stoker(['doctor', ...argv], { programs, ...of })
const levels = async (of: TerminalOptions = {}) => {
  const { stdout } = await doctor(['--json'], of)
  const { findings } = OUTPUT_SCHEMAS.doctor.parse(JSON.parse(stdout))
  return Object.fromEntries(findings.map(one => [one.check, one.level]))
}

test('machine and hub are looked at; what is only a warning is no failure', async () => {
  const { code, stdout } = await doctor()
  expect(code).toBe(0)
  expect(stdout).toContain('ok    sandbox  a sandbox ran')
  expect(stdout).toContain('you are ann with role admin')
  expect(stdout).toMatch(/warn +workers +no worker is connected: jobs wait\n +→ start one: stoker worker/)
  expect(stdout).toContain('0 problems, 1 warning.')
})

test('something bad is exit code 1, with what to do', async () => {
  await finds({ check: 'python', level: 'bad', text: 'no Python', todo: 'install it' })
  const { code, stdout } = await doctor()
  expect({ code, hasTodo: stdout.includes('→ install it') }).toEqual({ code: 1, hasTodo: true })
  expect((await doctor(['--quiet'])).stdout.split('\n')).toContain('python')
})

test('a hub that is away, a token it does not know and another version are told apart', async () => {
  expect(await levels({ env: { STOKER_URL: 'http://127.0.0.1:9' } })).toMatchObject({ hub: 'bad' })
  expect(await levels({ env: { STOKER_TOKEN: 'wrong' } })).toMatchObject({ hub: 'ok', token: 'bad' })
  const health = { status: 'ok', version: '9.9.9', epoch: 1, startedAt: '2026', workers: { connected: 0, total: 0 } }
  hub().on('GET /health', (_, response) => reply(response, 200, health))
  expect(await levels()).toMatchObject({ version: 'warn' })
})

test('a machine that knows no hub is told how to get one', async () => {
  const { code, stdout } = await doctor([], { env: { STOKER_URL: '' } })
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining('start one on this machine:  stoker up'),
  })
})

test.each([
  ['Thu, 01 Jan 2026 00:00:10 GMT', 'ok'],
  ['Thu, 01 Jan 2026 00:00:08 GMT', 'ok'],
  ['Thu, 01 Jan 2026 00:00:05 GMT', 'warn'],
  ['Thu, 01 Jan 2026 00:00:20 GMT', 'warn'],
  ['Thu, 01 Jan 2026 00:09:20 GMT', 'bad'],
  [null, 'ok'],
])('a hub that says %s when it is 00:00:10 is %s', (date, level) => {
  expect(clockFinding(date, AT, 20).level).toBe(level)
})

test('clocks are said to agree as well as can be known', () => {
  expect(clockFinding('Thu, 01 Jan 2026 00:00:08 GMT', AT, 20).text).toBe('clocks are at most 2.0 s apart')
})
