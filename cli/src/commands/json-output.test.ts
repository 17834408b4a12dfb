import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { asJob, openStream, refuse, reply, sse, TEST_TOKEN } from '../../../client/src/test-hub.ts'
import { OUTPUT_SCHEMAS, type OutputName } from '../output/schemas.ts'
import { useTestHub } from '../test-terminal.ts'
import { ANSWERS, deed, ended, group, schedule, session, waiting } from './test-answers.ts'

const { hub, stoker, home } = useTestHub()

beforeEach(() => {
  hub().jobs.set(ended.id, ended)
  for (const [route, [status, body]] of Object.entries(ANSWERS))
    hub().on(route, (_, response) => reply(response, status, body))
  hub().on('GET /api/v1/jobs/:id/logs', (_, response) => response.end('line\n\nlast'))
  hub().on('GET /api/v1/jobs/:id/events', (_, response) => {
    openStream(response)
    response.end(sse('job', asJob(ended)) + sse('end', asJob(ended)))
  })
})

const SHORT = ended.id.slice(-12)
const CASES: readonly [OutputName, readonly string[], number, string][] = [
  ['submit', ['submit', '-'], 0, ''],
  ['list', ['list', '--state', 'failed,active'], 0, `${ended.id}\n`],
  ['show', ['show', SHORT], 0, `${ended.id}\n`],
  ['status', ['status'], 0, `${ended.id}\n`],
  ['status', ['status', SHORT], 0, `${ended.id}\n`],
  ['explain', ['explain', SHORT], 0, `${ended.id}\n`],
  ['logs', ['logs', SHORT, '--tail', '5'], 0, `${ended.id}\n`],
  ['wait', ['wait', SHORT], 100, `${ended.id}\n`],
  ['cancel', ['cancel', SHORT], 0, `${ended.id}\n`],
  ['hold', ['hold', SHORT], 0, `${waiting.id}\n`],
  ['release', ['release', SHORT, SHORT], 0, `${waiting.id}\n`],
  ['priority', ['priority', SHORT, '7'], 0, `${waiting.id}\n`],
  ['priority', ['priority', SHORT, '-7'], 0, `${waiting.id}\n`],
  ['retry', ['retry', SHORT], 0, ''],
  ['list', ['list', '--group', group.id], 0, `${ended.id}\n`],
  ['groups', ['groups', '--limit', '5'], 0, `${group.id}\n`],
  ['group show', ['group', 'show', group.id], 0, `${group.id}\n`],
  ['group cancel', ['group', 'cancel', group.id], 0, `${group.id}\n`],
  ['group retry', ['group', 'retry', group.id], 0, `${group.id}\n`],
  ['group wait', ['group', 'wait', group.id, '--timeout', '9s'], 100, `${group.id}\n`],
  ['session start', ['session', 'start', '--concurrency', '2', '-'], 0, `${session.id}\n`],
  ['session list', ['session', 'list'], 0, `${session.id}\n`],
  ['session show', ['session', 'show', '0c'], 0, `${session.id}\n`],
  ['session keepalive', ['session', 'keepalive', '0c'], 0, `${session.id}\n`],
  ['session end', ['session', 'end', '0c'], 0, `${session.id}\n`],
  ['session send', ['session', 'send', '0c', 'hello', '--detach'], 0, `${waiting.id}\n`],
  ['schedule add', ['schedule', 'add', 'nightly', '--cron', '0 3 * * *', '-'], 0, `${schedule.id}\n`],
  ['schedule list', ['schedule', 'list'], 0, `${schedule.id}\n`],
  ['schedule show', ['schedule', 'show', 'nightly'], 0, `${schedule.id}\n`],
  ['schedule pause', ['schedule', 'pause', 'nightly'], 0, `${schedule.id}\n`],
  ['schedule resume', ['schedule', 'resume', 'nightly'], 0, `${schedule.id}\n`],
  ['schedule run', ['schedule', 'run', 'nightly'], 0, `${schedule.id}\n`],
  ['schedule remove', ['schedule', 'remove', 'nightly'], 0, 'nightly\n'],
  ['presets list', ['presets', 'list', '--limit', '5'], 0, 'echo/chat\n'],
  ['presets show', ['presets', 'show', 'echo/chat'], 0, 'echo/chat\n'],
  ['owner list', ['owner', 'list'], 0, 'ann\n'],
  ['owner show', ['owner', 'show', 'ann'], 0, 'ann\n'],
  ['owner limit', ['owner', 'limit', 'ann', '--queued', 'none', '--bytes', '10GB'], 0, 'ann\n'],
  ['workers', ['workers'], 0, 'w-1\n'],
  ['workers', ['workers', 'box'], 0, 'w-1\n'],
  ['drain', ['drain', 'box'], 0, 'w-1\n'],
  ['resume', ['resume', 'box'], 0, 'w-1\n'],
  ['device quarantine', ['device', 'quarantine', 'GPU-1', '--reason', 'its fan is loud'], 0, 'GPU-1\n'],
  ['device release', ['device', 'release', 'GPU-1'], 0, 'GPU-1\n'],
  ['gc', ['gc'], 0, ''],
  ['gc', ['gc', '--dry-run'], 0, ''],
  ['token create', ['token', 'create', '--role', 'submit', '--owner', 'ann', '--expires-in', '30d'], 0, 'stk_secret\n'],
  ['token list', ['token', 'list'], 0, 't-1\n'],
  ['token revoke', ['token', 'revoke', 't-1'], 0, 't-1\n'],
  ['secret set', ['secret', 'set', 'HF_TOKEN'], 0, 'HF_TOKEN\n'],
  ['secret list', ['secret', 'list'], 0, 'HF_TOKEN\n'],
  ['secret remove', ['secret', 'remove', 'HF_TOKEN'], 0, 'HF_TOKEN\n'],
  ['secret rotate-key', ['secret', 'rotate-key'], 0, 'k2\n'],
  ['audit', ['audit', '--limit', '5'], 0, `${deed.id}\n`],
  ['join', ['join', '--host', 'hub.lab', '--expires-in', '30m'], 0, 'https://hub.lab:7443/join/stk_secret\n'],
  ['listener list', ['listener', 'list'], 0, '127.0.0.1:7070\n0.0.0.0:7443\n'],
  ['listener open', ['listener', 'open', 'https://0.0.0.0:7443'], 0, '0.0.0.0:7443\n'],
  ['listener close', ['listener', 'close', 'https://0.0.0.0:7443'], 0, '0.0.0.0:7443\n'],
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

test('presets are shown with what is wrong in their files and with what to do about it', async () => {
  const list = (await stoker(['presets', 'list'], { columns: 80 })).stdout
  expect(list).toContain('/p/model_presets.yaml:7:5: unknown key "comand"')
  expect(list).toContain('1/2')
  const shown = (await stoker(['presets', 'show', 'echo/chat'], { columns: 80 })).stdout
  expect(shown).toContain('build       docker build -t echo /src')
  expect(shown).toContain('failed      exited with code 3')
})

test('explain says why, who is ahead, when, and what to type', async () => {
  const { stdout } = await stoker(['explain', SHORT], { columns: 72 })
  expect(stdout.split('\n')).toEqual([
    `${SHORT}  queued  x`,
    'why        2 of 3 known workers could run it, none of them now',
    'not now    7 workers (a, b, c, d, e, …): needs 2 of the 4 GPUs of each',
    '           that suit it, 1 are free and 3 taken by jobs',
    'never      2 workers (box, nut), closest box: needs 8 CPUs, box has 4',
    'ahead      about 1,212 jobs that compete for its workers',
    'starts     in about 1.0 s, most likely within 1.0 s (from 212 runs of',
    '           such jobs)',
    'now if     with 1 GPU instead of 2, on a',
    'or         worker nut resumed, on nut: stoker resume nut',
    '',
  ])
})

test('show says what a job waits for, line by line', async () => {
  hub().jobs.set(waiting.id, waiting)
  const { stdout } = await stoker(['show', waiting.id])
  expect(stdout).toMatch(/^why +held by ann$/m)
  expect(stdout).toMatch(new RegExp(`^waits for +end of ${ended.id} \\(active\\)\n +2 more$`, 'm'))
})

test('a job that has started cannot be held: the others still are', async () => {
  hub().on('POST /api/v1/jobs/:id/hold', (_, response, id) =>
    id === 'dead' ? refuse(response, 'job.active', 'job dead is active') : reply(response, 200, asJob(waiting)),
  )
  expect(await stoker(['hold', 'dead', SHORT, '-q'])).toEqual({
    code: 1,
    stdout: `${waiting.id}\n`,
    stderr: 'stoker: job dead is active\n',
  })
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

test('a tail that is followed goes on over a broken connection from where it began', async () => {
  const asked: string[] = []
  hub().on('GET /api/v1/jobs/:id/logs', ({ query }, response) => {
    asked.push(query.toString())
    response.setHeader('stoker-from', '1.40.0')
    if (asked.length === 1) response.write('one\ntw', () => response.destroy())
    else response.end('one\ntwo\nthree\n')
  })
  expect(await stoker(['logs', '-f', '--tail', '2', SHORT])).toEqual({
    code: 0,
    stdout: 'one\ntwo\nthree\n',
    stderr: '',
  })
  expect(asked).toEqual(['tail=2&follow=true', 'from=1.40.0&follow=true'])
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

test('a reason of several lines is shown line by line, and nothing in it moves the cursor', async () => {
  const failed = { ...ended, state: 'failed', reason: 'exited with code 1\nTraceback\n  \u001b[2Joh\n' } as const
  hub().jobs.set(failed.id, failed)
  const { stdout } = await stoker(['show', failed.id])
  expect(stdout).toMatch(/^why +exited with code 1\n {5,}Traceback\n {7,}�\[2Joh$/m)
})
