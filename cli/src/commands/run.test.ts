import { expect, test } from 'vitest'
import { aJob, asJob, openStream, reply, sse } from '../../../client/src/test-hub.ts'
import { OUTPUT_SCHEMAS } from '../output/schemas.ts'
import { useTestHub } from '../test-terminal.ts'

const { hub, stoker } = useTestHub()
const log = (text: string, stream = 'stdout') => sse('logs', { attempt: 1, stream, log: text, level: 'info' })

/** Plays a job: what its program says, and how it ends. */
function play(said: readonly string[], end: Partial<ReturnType<typeof asJob>>): void {
  hub().on('GET /api/v1/jobs/:id/events', (_, response, id) => {
    const job = asJob({ ...(hub().jobs.get(id) ?? aJob()), state: 'active', worker: { id: 'w', name: 'box' } })
    openStream(response)
    response.write(sse('job', job) + said.join(''))
    response.end(sse('end', { ...job, ...end }))
  })
}

test('an answer is shown once: by its pieces, or whole where there were none', async () => {
  const said = (event: string, fields: object) => sse(event, { attempt: 1, stream: 'stdout', ...fields })
  const pieces = [
    said('text_delta', { delta: 'a ' }),
    said('worker', { status: 'x' }),
    said('text_delta', { delta: 'b' }),
  ]
  play([...pieces, said('text', { content: 'a b' }), said('text', { content: 'whole' })], { state: 'succeeded' })
  expect((await stoker(['run', '--', 'x'])).stdout).toBe('a b\nwhole\n')
})

test('a program behind -- is sent as it is and its output comes out where it was written', async () => {
  play([log('hi'), log('warn', 'stderr'), sse('text_delta', { attempt: 1, stream: 'stdout', delta: 'to' })], {
    state: 'succeeded',
    exitCode: 0,
  })
  const { code, stdout, stderr } = await stoker(['run', '--name', 'n', '--', 'python3', '-u', 'a b.py', '--json'])
  expect([...hub().jobs.values()][0]?.spec.command).toEqual(['python3', '-u', 'a b.py', '--json'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi\nto' })
  expect(stderr).toBe(`job ${[...hub().jobs.keys()][0]}\nwarn\nsucceeded\n`)
})

const part = (text: string, stream = 'stdout') => sse('logs', { attempt: 1, stream, log: text, open: true })

test('a line that comes in parts is shown part by part, and is one line', async () => {
  play([log('a'), part('10%\r'), part('50%\r'), log('done'), part('e', 'stderr'), log('rr', 'stderr'), log('b')], {
    state: 'succeeded',
    exitCode: 0,
  })
  const { stdout, stderr } = await stoker(['run', '--', 'x'])
  expect(stdout).toBe('a\n10%\r50%\rdone\nb\n')
  expect(stderr).toContain('\nerr\n')
})

test('on a terminal nothing is written over a progress bar of the other stream', async () => {
  play([part('60%\r', 'stderr'), log('done')], { state: 'succeeded', exitCode: 0 })
  const { stdout, stderr } = await stoker(['run', '--', 'x'], { columns: 80 })
  expect({ stdout, stderr }).toMatchObject({
    stdout: expect.stringContaining('done'),
    stderr: expect.stringContaining('60%\r\n'),
  })
})

test.each([
  [
    { state: 'failed', exitCode: 42, reason: 'exited with code 42\nTraceback' } as const,
    42,
    'failed: exited with code 42\n',
  ],
  [
    { state: 'failed', signal: 'SIGKILL' } as const,
    137,
    'failed (usually: killed from outside, often for lack of memory)\n',
  ],
  [
    { state: 'failed', signal: 'SIGKILL', reason: 'out of memory (limit 50 MB)' } as const,
    137,
    'failed: out of memory (limit 50 MB)\n',
  ],
  [{ state: 'timed_out', reason: 'Task timeout exceeded' } as const, 124, 'timed_out: Task timeout exceeded\n'],
])('a job that ends as %o gives exit code %i', async (end, code, words) => {
  play([], end)
  const ran = await stoker(['run', '--', 'x'])
  expect(ran).toEqual({ code, stdout: '', stderr: `job ${[...hub().jobs.keys()][0]}\n${words}` })
})

test('with --json stdout is one value that fits its schema, the output of the program goes to stderr', async () => {
  play([log('noise')], { state: 'failed', exitCode: 3 })
  const { code, stdout, stderr } = await stoker(['run', '--json', '--', 'x'])
  expect(OUTPUT_SCHEMAS.run.parse(JSON.parse(stdout))).toMatchObject({ exitCode: 3, job: { state: 'failed' } })
  expect({ code, stderr }).toEqual({ code: 3, stderr: 'noise\n' })
})

test('--quiet prints the id alone and still exits like the program', async () => {
  play([log('noise')], { state: 'failed', exitCode: 3 })
  const ran = await stoker(['run', '-q', '--', 'x'])
  expect(ran).toEqual({ code: 3, stdout: `${[...hub().jobs.keys()][0]}\n`, stderr: '' })
})

test('--detach gives the id and does not follow', async () => {
  const { code, stdout } = await stoker(['run', '--detach', '--', 'x'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${[...hub().jobs.keys()][0]}\n` })
  expect(hub().seen).toHaveLength(1)
})

test('a terminal shows one progress line that is wiped before the output goes on', async () => {
  const progress = sse('progress', { attempt: 1, stream: 'stdout', percent: 50, operation: 'epoch 2' })
  let goOn = () => {}
  hub().on('GET /api/v1/jobs/:id/events', (_, response, id) => {
    const job = asJob({ ...(hub().jobs.get(id) ?? aJob()), state: 'active', worker: { id: 'w', name: 'box' } })
    openStream(response)
    const stale = { ...job, progress: { percent: 10, operation: 'epoch 1', metrics: {} } }
    response.write(sse('job', job) + log('one') + progress + sse('job', stale))
    goOn = () => response.end(log('two') + sse('end', { ...job, state: 'succeeded' }))
  })
  const onWrite = (text: string) => void (text.includes('50%') && goOn())
  const { stderr, stdout } = await stoker(['run', '--', 'x'], { columns: 100, onWrite })
  expect(stdout).toBe('one\ntwo\n')
  expect(stderr).toContain('██████████░░░░░░░░░░ 50% running on box, epoch 2')
  expect(stderr.split('\r\u001b[2K').length).toBeGreaterThan(2)
  expect(stderr.endsWith('\r\u001b[2Ksucceeded\n')).toBe(true)
})

test('a hub that goes away and comes back is said once, and no line is lost or shown twice', async () => {
  let connections = 0
  hub().on('GET /api/v1/jobs/:id/events', (request, response, id) => {
    const job = asJob({ ...(hub().jobs.get(id) ?? aJob()), state: 'active' })
    const line = (n: number) => sse('logs', { attempt: 1, stream: 'stdout', log: `line ${n}` }, `1.${n}.0`)
    openStream(response)
    connections += 1
    if (connections === 1) return response.write(sse('job', job) + line(1) + line(2), () => response.destroy())
    expect(request.headers['last-event-id']).toBe('1.2.0')
    return response.end(line(3) + sse('end', { ...job, state: 'succeeded' }))
  })
  const { code, stdout, stderr } = await stoker(['run', '--', 'x'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'line 1\nline 2\nline 3\n' })
  expect(stderr.split('the hub is away')).toHaveLength(2)
})

test('the first Ctrl-C cancels the job and waits for its end', async () => {
  let end = () => {}
  hub().on('GET /api/v1/jobs/:id/events', (_, response) => {
    openStream(response)
    response.write(log('working'))
    end = () => response.end(sse('end', asJob(aJob({ state: 'canceled', reason: 'canceled by admin' }))))
  })
  hub().on('POST /api/v1/jobs/:id/cancel', (_, response) => {
    reply(response, 202, { effect: 'stopping', job: asJob(aJob({ cancelRequested: true })) })
    end()
  })
  const pressed = once((text, stop) => text.includes('working') && stop())
  const { code, stderr } = await stoker(['run', '--', 'x'], { onWrite: pressed })
  expect(code).toBe(103)
  expect(stderr).toContain('canceling the job')
  expect(stderr).toContain('canceled: canceled by admin')
})

test('the second Ctrl-C leaves at once and says what becomes of the job', async () => {
  hub().on('GET /api/v1/jobs/:id/events', (_, response) => {
    openStream(response)
    response.write(log('working'))
  })
  hub().on('POST /api/v1/jobs/:id/cancel', (_, response) =>
    reply(response, 202, { effect: 'stopping', job: asJob(aJob({ cancelRequested: true })) }),
  )
  const twice = once((text, stop) => {
    if (!text.includes('working')) return false
    stop()
    stop()
    return true
  })
  const { code, stderr } = await stoker(['run', '--', 'x'], { onWrite: twice })
  expect(code).toBe(130)
  expect(stderr).toContain('still being stopped')
})

test('failures of run itself are 125, so that they do not look like those of the program', async () => {
  expect((await stoker(['run', '--', 'x'], { env: { STOKER_TOKEN: 'wrong' } })).code).toBe(125)
  expect((await stoker(['run', '--', 'x'], { env: { STOKER_URL: 'http://127.0.0.1:9' } })).code).toBe(125)
})

test('a job that no worker can run is refused with 6 when asked to fail fast', async () => {
  const { code, stderr } = await stoker(['run', '--gpus', '1', '--fail-fast', '--', 'x'])
  expect({ code, stderr }).toEqual({ code: 6, stderr: 'stoker: needs 1 GPU, largest worker has 0\n' })
})

test('words without -- are not guessed at: the line to type is shown', async () => {
  const { code, stderr } = await stoker(['run', 'python3', 'train.py'])
  expect(code).toBe(2)
  expect(stderr).toContain('stoker run -- python3 train.py')
})

/** Calls until it says that it has done its part. */
function once(act: (text: string, stop: () => void) => unknown) {
  let isDone = false
  return (text: string, stop: () => void) => {
    if (isDone) return
    isDone = text.includes('working')
    act(text, stop)
  }
}
