import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OUTPUT_SCHEMAS } from '../output/schemas.ts'
import { type TerminalOptions, typeLine, useTestFolder } from '../test-terminal.ts'

const home = useTestFolder()
const ENV = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/' }
const DONE = `echo '{"event":"finish","status":"completed"}'`
const READY = `echo '{"event":"worker","status":"ready"}'`

/** Ended, also if nobody has asked for its exit code yet. */
async function isGone(pid: unknown): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text === '' || /\) Z /.test(text)
}

const check = (argv: readonly string[], of: TerminalOptions = {}) =>
  typeLine(home(), ['program', 'check', ...argv], { ...of, env: { ...ENV, ...of.env } })
const sh = (script: string, options: readonly string[] = ['--no-stop']) => [...options, '--', 'sh', '-c', script]

async function report(script: string, options: readonly string[] = ['--no-stop']) {
  const { code, stdout } = await check(['--json', ...sh(script, options)])
  const value = OUTPUT_SCHEMAS['program check'].parse(JSON.parse(stdout))
  expect(code).toBe(value.ok ? 0 : 1)
  return { ...value, codes: value.mistakes.map(one => one.code) }
}

test('a good program is shown event by event, and all is well', async () => {
  const { code, stdout, stderr } = await check(sh(`echo words; echo '{"event":"text","content":"a b"}'; ${DONE}`, []))
  expect(code).toBe(0)
  expect(stdout).toMatch(
    / {2}logs \(stdout\) {2}words\n.* {2}text {11}"a b"\n.* {2}finish {9}completed\nended with exit code 0/,
  )
  expect(stdout).toContain('No mistakes.')
  expect(stderr).toMatch(/^run: sh -c/)
})

test('a program gets exactly what a worker gives it', async () => {
  const names = ['MODEL_NAME', 'MODEL_PATH', 'GPU_DEVICE', 'TASK_ID', 'SESSION_ID', 'METADATA_MY_KEY', 'METADATA_ON']
  const shown = [...names, 'TASK_METADATA', 'MINE', 'PYTHONUNBUFFERED', 'STOKER_HOME', 'CUDA_VISIBLE_DEVICES']
  const script = `${shown.map(name => `echo "${name}=$${name}"`).join('; ')}; ls -A "$MODEL_PATH"; cat; ${DONE}`
  const given = ['--input', '{"my key": "v"}', '--input', 'on=true', '--env', 'MINE=x y', '--model', 'm', '--gpu', '1']
  const { run, ok } = await report(script, ['--no-stop', ...given])
  const said = run.lines.filter(one => one.event === 'logs').map(one => String(one.fields.log))
  expect(ok).toBe(true)
  expect(said).toEqual([
    'MODEL_NAME=m',
    expect.stringMatching(/^MODEL_PATH=\/.*stoker-check-/),
    'GPU_DEVICE=1',
    expect.stringMatching(/^TASK_ID=[0-9a-f-]{36}$/),
    'SESSION_ID=',
    'METADATA_MY_KEY=v',
    'METADATA_ON=True',
    'TASK_METADATA={"my key":"v","on":true}',
    'MINE=x y',
    'PYTHONUNBUFFERED=1',
    'STOKER_HOME=',
    'CUDA_VISIBLE_DEVICES=1',
  ])
  expect(existsSync(said[1]?.replace('MODEL_PATH=', '') ?? '/')).toBe(false)
})

test('mistakes are named with their line and what to do, and the exit code is 1', async () => {
  const { code, stdout } = await check(sh(`echo "{'event': 'text'}"; ${DONE}; exit 3`))
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /error {4}json\.invalid {2}stdout line 1: looks like an event and is no JSON.*\n +→ .*json\.dumps/,
  )
  expect(stdout).toContain('exit.after_completed')
  expect(stdout).toContain('2 mistakes, 0 warnings.')
})

test('many mistakes of a kind are counted, not listed', async () => {
  const { stdout } = await check(sh(`for i in $(seq 40); do echo '{"event":"odd"}'; done; ${DONE}`))
  expect(stdout.match(/event\.unknown {2}/g)?.length).toBe(5)
  expect(stdout).toContain('and 35 more of event.unknown')
})

test('quiet prints the codes of what is wrong only', async () => {
  expect(await check(['-q', ...sh('echo x', [])])).toEqual({ code: 1, stdout: 'finish.missing\n', stderr: '' })
})

test('a program that ignores SIGTERM is found, and it is killed with its children', async () => {
  const script = `trap "" TERM; echo $$ >>went; if [ $(wc -l <went) = 2 ]; then echo deaf; sleep 600; fi; ${DONE}`
  const { codes, mistakes } = await report(script, ['--grace', '300ms'])
  expect(codes).toEqual(['stop.ignored'])
  expect(mistakes[0]).toMatchObject({ run: 'stop', text: expect.stringContaining('300 ms after SIGTERM') })
  const pids = (await readFile(join(home(), 'went'), 'utf8')).trim().split('\n')
  await expect.poll(async () => Promise.all(pids.map(isGone))).toEqual([true, true])
})

test('a program that ends on SIGTERM is not blamed for how', async () => {
  const script = `echo hello; if [ -e went ]; then exec sleep 600; fi; touch went; ${DONE}`
  expect((await report(script, [])).codes).toEqual([])
})

test('a program that does not end is stopped at its timeout, also a silent one', async () => {
  const { codes, run } = await report('exec sleep 600', ['--no-stop', '--timeout', '200ms'])
  expect(codes).toEqual(['run.timeout'])
  expect(run).toMatchObject({ outcome: 'timed_out', error: 'Task timeout exceeded', signal: 'SIGTERM' })
})

test('what a background child holds open does not keep the check', async () => {
  const { codes, run } = await report(`sleep 600 & echo $!; ${DONE}`)
  expect(codes).toEqual([])
  await expect.poll(() => isGone(run.lines[0]?.fields.log)).toBe(true)
})

test('a session gets two tasks, one after the other, and the end of stdin', async () => {
  const script = `${READY}; while read -r line; do echo "$line"; ${DONE}; done`
  const { ok, run } = await report(script, ['--session', '--input', '{"topic": "fire"}', '--timeout', '60s'])
  expect(ok).toBe(true)
  const tasks = run.lines.filter(one => one.event === 'logs').map(one => JSON.parse(String(one.fields.log)))
  const wanted = { task_name: 'check', model_id: 'check', task_preset: 'inference', timeout_seconds: 60 }
  expect(tasks).toEqual([1, 2].map(() => ({ ...wanted, task_id: expect.any(String), metadata: { topic: 'fire' } })))
  expect(tasks[0].task_id).not.toBe(tasks[1].task_id)
  expect(run).toMatchObject({ kind: 'session', outcome: 'completed' })
})

test.each([
  ['never ready', 'cat >/dev/null', ['--timeout', '200ms'], 'session.never_ready'],
  ['a one-off', DONE, [], 'session.one_off'],
  ['dead in its first task', `${READY}; read -r line; exit 4`, [], 'session.unanswered'],
  ['with an error at the end', `while read -r line; do ${DONE}; done; exit 5`, [], 'session.eof_error'],
  [
    'deaf to the end',
    `while read -r line; do ${DONE}; done; exec sleep 600`,
    ['--grace', '200ms'],
    'session.eof_ignored',
  ],
  ['with two answers to each', `while read -r line; do ${DONE}; ${DONE}; done`, [], 'finish.twice'],
])('a session that is %s is told so', async (_name, script, options, code) => {
  expect((await report(script, ['--session', '--no-stop', ...options])).codes).toEqual([code])
})

test('a session is asked to stop while it waits', async () => {
  const script = `${READY}; while read -r line; do ${DONE}; done`
  expect((await report(script, ['--session'])).codes).toEqual([])
  const deaf = `trap "" TERM; ${script}`
  expect((await report(deaf, ['--session', '--grace', '200ms'])).codes).toEqual(['stop.ignored'])
})

test('Ctrl-C ends the program and the check', async () => {
  const stopping = { onWrite: (text: string, stop: () => void) => (text.includes('hello') ? stop() : undefined) }
  expect((await check(sh('echo hello; trap "" TERM; sleep 600', []), stopping)).code).toBe(130)
})

test.each([
  [['--', 'no-such-program'], 3, 'no-such-program does not start: there is no such program'],
  [[], 2, 'check takes a program behind --, or --image'],
  [['--model-path', 'nowhere', '--', 'true'], 2, 'should be a folder'],
  [['--input', '{"a":', '--', 'true'], 2, 'It should be a JSON object'],
  [['--timeout', 'soon', '--', 'true'], 2, 'a duration like 90s'],
  [['--image', 'x'], 8, 'no container engine answers at /nowhere/e.sock (there is no socket); start it'],
])('%j is refused with %i', async (argv, code, words) => {
  const ran = await check(argv, { env: { DOCKER_HOST: 'unix:///nowhere/e.sock' } })
  expect(ran).toMatchObject({ code, stderr: expect.stringContaining(words) })
})

test('a DOCKER_HOST nobody understands is refused', async () => {
  const ran = await check(['--image', 'x'], { env: { DOCKER_HOST: 'ssh://a@b' } })
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('DOCKER_HOST: the engine') })
})
