import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Worker, WorkerDetail } from '@stoker/protocol'
import { beforeEach, expect, test } from 'vitest'
import { aJob, asJob, openStream, refuse, reply, sse, TEST_TOKEN } from '../../../client/src/test-hub.ts'
import { OUTPUT_SCHEMAS, type OutputName } from '../output/schemas.ts'
import { useTestHub } from '../test-terminal.ts'

const { hub, stoker, home } = useTestHub()
const NOW = '2026-01-01T00:00:00.000Z'
const ended = aJob({ state: 'failed', exitCode: 1, reason: 'exited with code 1', startedAt: NOW, endedAt: NOW })
const worker: Worker = {
  id: 'w-1',
  name: 'box',
  state: 'ready',
  version: '0.1.0',
  tags: ['a100'],
  maxJobs: 4,
  running: 1,
  cpus: { total: 8, claimed: 1 },
  memoryBytes: { total: 16e9, claimed: 0 },
  gpus: { total: 1, claimed: 0 },
  simulated: true,
  registeredAt: NOW,
  lastSeenAt: NOW,
}
const gpu = { index: 0, uuid: 'GPU-1', name: 'Test GPU', memoryMb: 24_000, driver: null, simulated: true }
const detail: WorkerDetail = {
  ...worker,
  hardware: {
    cpuModel: 'Test CPU',
    cores: 8,
    memoryBytes: 16e9,
    disk: { freeBytes: 1, totalBytes: 2 },
    hostname: 'box',
    os: 'Linux',
    arch: 'x64',
    pythons: [],
    gpus: [gpu],
    gpuNote: null,
  },
  abilities: {
    executors: ['inline', 'process'],
    sandbox: true,
    unsandboxed: true,
    internet: true,
    hostNetwork: false,
    note: null,
  },
  samples: [],
  attempts: [{ job: ended.id, attempt: 1, state: 'running', gpus: [] }],
}
const token = { id: 't-1', role: 'submit', owner: 'ann', label: '', createdAt: NOW, expiresAt: null, usedBy: null }

beforeEach(() => {
  hub().jobs.set(ended.id, ended)
  const answers: Record<string, readonly [number, unknown]> = {
    'POST /api/v1/jobs/:id/cancel': [202, { effect: 'stopping', job: asJob(ended) }],
    'POST /api/v1/jobs/:id/retry': [201, { jobs: [{ id: aJob().id, unschedulable: null }] }],
    'GET /api/v1/workers': [200, { workers: [worker] }],
    'GET /api/v1/workers/box': [200, detail],
    'GET /api/v1/gc': [200, GC],
    'POST /api/v1/gc': [200, GC],
    'POST /api/v1/workers/box/drain': [200, { ...worker, state: 'draining' }],
    'POST /api/v1/workers/box/resume': [200, worker],
    'POST /api/v1/tokens': [201, { ...token, secret: 'stk_secret' }],
    'GET /api/v1/tokens': [200, { tokens: [token] }],
    'DELETE /api/v1/tokens/:id': [204, undefined],
    'GET /api/v1/me': [200, { owner: 'ann', role: 'submit', tokenId: 't-1' }],
    'GET /health': [200, { status: 'ok', version: '9', epoch: 3, startedAt: NOW, workers: { connected: 1, total: 1 } }],
  }
  for (const [route, [status, body]] of Object.entries(answers))
    hub().on(route, (_, response) => reply(response, status, body))
  hub().on('GET /api/v1/jobs/:id/logs', (_, response) => response.end('line\n\nlast'))
  hub().on('GET /api/v1/jobs/:id/events', (_, response) => {
    openStream(response)
    response.end(sse('job', asJob(ended)) + sse('end', asJob(ended)))
  })
})

const SHORT = ended.id.slice(-12)
const part = { count: 2, bytes: 5_000 }
const GC = { jobs: { count: 1 }, logs: part, artifacts: part, content: part, uploads: part }
const CASES: readonly [OutputName, readonly string[], number, string][] = [
  ['submit', ['submit', '-'], 0, ''],
  ['list', ['list', '--state', 'failed,active'], 0, `${ended.id}\n`],
  ['show', ['show', SHORT], 0, `${ended.id}\n`],
  ['logs', ['logs', SHORT, '--tail', '5'], 0, `${ended.id}\n`],
  ['wait', ['wait', SHORT], 100, `${ended.id}\n`],
  ['cancel', ['cancel', SHORT], 0, `${ended.id}\n`],
  ['retry', ['retry', SHORT], 0, ''],
  ['workers', ['workers'], 0, 'w-1\n'],
  ['workers', ['workers', 'box'], 0, 'w-1\n'],
  ['drain', ['drain', 'box'], 0, 'w-1\n'],
  ['resume', ['resume', 'box'], 0, 'w-1\n'],
  ['gc', ['gc'], 0, ''],
  ['gc', ['gc', '--dry-run'], 0, ''],
  ['token create', ['token', 'create', '--role', 'submit', '--owner', 'ann', '--expires-in', '30d'], 0, 'stk_secret\n'],
  ['token list', ['token', 'list'], 0, 't-1\n'],
  ['token revoke', ['token', 'revoke', 't-1'], 0, 't-1\n'],
  ['context list', ['context', 'list'], 0, ''],
  ['version', ['version'], 0, '0.0.0-test\n'],
]

test.each(CASES)('%s prints one JSON value of its published form (%j)', async (name, argv, code) => {
  const ran = await stoker([...argv, '--json'], { stdin: 'type: noop' })
  expect(ran.code, ran.stderr).toBe(code)
  expect(OUTPUT_SCHEMAS[name].safeParse(JSON.parse(ran.stdout)).error).toBeUndefined()
})

test.each(CASES)(
  '%s prints ids only when quiet and something for people otherwise (%j)',
  async (name, argv, code, ids) => {
    const quiet = await stoker([...argv, '--quiet'], { stdin: 'type: noop' })
    expect(quiet.code).toBe(code)
    if (ids !== '') expect(quiet.stdout).toBe(ids)
    for (const line of quiet.stdout.split('\n')) expect(line).not.toMatch(/\s/)
    const human = await stoker(argv, { stdin: 'type: noop', columns: 60 })
    expect(human.stdout.length).toBeGreaterThan(0)
    if (name === 'list' || name === 'drain')
      for (const line of human.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(60)
  },
)

test('every published form can be printed as JSON Schema, one or all', async () => {
  const all = JSON.parse((await stoker(['schema'])).stdout)
  expect(Object.keys(all)).toEqual(Object.keys(OUTPUT_SCHEMAS))
  for (const schema of Object.values(all)) expect(schema).toHaveProperty('$schema')
  expect(JSON.parse((await stoker(['schema', 'token', 'create'])).stdout)).toEqual(all['token create'])
  const mistyped = await stoker(['schema', 'lst'])
  expect(mistyped).toMatchObject({ code: 3, stderr: expect.stringContaining('did you mean "list"?') })
})

test.each([
  [['show', 'ffff'], 3, 'job.not_found'],
  [['list', '--limt', '3'], 2, 'cli.usage'],
  [['list', '--context', 'nope'], 3, 'context.not_found'],
])('%j fails with %i and still prints one JSON value', async (argv, exitCode, code) => {
  const ran = await stoker([...argv, '--json'])
  expect(ran.code).toBe(exitCode)
  expect(OUTPUT_SCHEMAS.error.parse(JSON.parse(ran.stdout)).error).toMatchObject({ code, exitCode })
  expect(ran.stderr).not.toBe('')
})

test('a token that is not enough exits with 4, a hub that is not there with 8', async () => {
  hub().on('GET /api/v1/tokens', (_, response) => refuse(response, 'auth.forbidden', 'needs role admin, has submit'))
  expect(await stoker(['token', 'list'])).toMatchObject({ code: 4, stderr: 'stoker: needs role admin, has submit\n' })
  expect((await stoker(['list'], { env: { STOKER_TOKEN: 'bad' } })).code).toBe(4)
  expect(await stoker(['list'], { env: { STOKER_URL: 'http://127.0.0.1:9' } })).toMatchObject({
    code: 8,
    stderr: expect.stringContaining('nothing listens there'),
  })
})

test('cancel goes on after a job that is not there and exits with what was wrong', async () => {
  hub().on('POST /api/v1/jobs/:id/cancel', (_, response, id) =>
    id === 'dead'
      ? refuse(response, 'job.not_found', 'no job dead')
      : reply(response, 202, { effect: 'canceled', job: asJob(ended) }),
  )
  const ran = await stoker(['cancel', 'dead', SHORT, '-q'])
  expect(ran).toEqual({ code: 3, stdout: `${ended.id}\n`, stderr: 'stoker: no job dead\n' })
})

test('mistyped commands and options name the nearest', async () => {
  expect(await stoker(['lsit'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean list?') })
  expect(await stoker(['logs', 'x', '--flow'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--follow') })
})

test('help of a command shows its own options, in both spellings', async () => {
  const [a, b] = [await stoker(['help', 'logs']), await stoker(['logs', '--help'])]
  expect(a).toEqual(b)
  expect(a).toMatchObject({ code: 0, stdout: expect.stringContaining('--follow') })
})

test('a followed log goes on over a broken connection, byte for byte', async () => {
  const whole = Buffer.from('zwölf\n\nBoxkämpfer\njagen')
  let connections = 0
  hub().on('GET /api/v1/jobs/:id/logs', (_, response) => {
    connections += 1
    if (connections < 3) response.write(whole.subarray(0, connections * 8), () => response.destroy())
    else response.end(whole)
  })
  expect(await stoker(['logs', '-f', SHORT])).toEqual({ code: 0, stdout: whole.toString(), stderr: '' })
})

test('wait gives up after its timeout with 124 and the job goes on', async () => {
  hub().on('GET /api/v1/jobs/:id/events', (_, response) => {
    openStream(response)
    response.write(sse('job', asJob(ended)))
  })
  expect((await stoker(['wait', SHORT, '--timeout', '50ms'])).code).toBe(124)
})

test('contexts are kept for their owner only, tried before they are kept, and used by name', async () => {
  const file = join(home(), 'token')
  await writeFile(file, `${TEST_TOKEN}\n`)
  const env = { STOKER_URL: '', STOKER_TOKEN: '' }
  expect((await stoker(['list'], { env })).stderr).toContain('stoker up')
  expect((await stoker(['context', 'add', 'bad', '--url', hub().url], { env, stdin: 'wrong' })).code).toBe(4)
  const added = await stoker(['context', 'add', 'lab', '--url', `${hub().url}/`, '--token-file', file, '--json'], {
    env,
  })
  expect(OUTPUT_SCHEMAS['context add'].parse(JSON.parse(added.stdout))).toEqual({
    current: 'lab',
    contexts: [{ name: 'lab', url: hub().url, hasToken: true }],
  })
  expect(added.stdout + added.stderr).not.toContain(TEST_TOKEN)
  expect((await stoker(['list', '-q'], { env })).stdout).toBe(`${ended.id}\n`)
  await stoker(['context', 'add', 'two', '--url', hub().url, '-q'], { env, stdin: TEST_TOKEN })
  expect((await stoker(['context', 'use', 'two', '--json'], { env })).stdout).toContain('"current":"two"')
  expect((await stoker(['context', 'use', 'labb'], { env })).stderr).toContain('did you mean "lab"?')
  expect((await stoker(['context', 'remove', 'two', '--json'], { env })).stdout).toContain('"current":null')
  expect(((await stat(join(home(), 'contexts.json'))).mode & 0o777).toString(8)).toBe('600')
})
