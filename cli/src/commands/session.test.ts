import { expect, test } from 'vitest'
import { aJob, asJob, openStream, refuse, reply, sse } from '../../../client/src/test-hub.ts'
import { useTestHub } from '../test-terminal.ts'

const { hub, stoker } = useTestHub()
const task = aJob({ type: 'task', state: 'queued' })
const said = (event: string, data: object) => sse(event, { attempt: 1, stream: 'stdout', ...data })

const ids = ['a', 'b', 'c', 'd'].map(digit => `0190a0a0-0000-7000-8000-00000000000${digit}`) as [
  string,
  string,
  string,
  string,
]
const aSession = {
  ...{ reason: null, owner: 'ann', preset: null, worker: null, gpus: [], concurrency: 1, working: [], queued: 0 },
  ...{ queue: 5, createdAt: '2026-01-01T00:00:00Z', readyAt: null, lastActivityAt: null, endedAt: null },
  ...{ idleTimeoutSeconds: 300, maxLifetimeSeconds: 3600, restarts: 0, attempts: 1 },
}

function answerWith(events: string, state: 'succeeded' | 'failed' = 'succeeded'): unknown[] {
  const bodies: unknown[] = []
  hub().on('POST /api/v1/sessions/:id/tasks', ({ body }, response) => {
    bodies.push(JSON.parse(body))
    reply(response, 201, asJob(task))
  })
  const end = { ...task, state, reason: state === 'failed' ? 'out of words' : null, result: { text: 'Hello you' } }
  hub().jobs.set(task.id, end)
  hub().on('GET /api/v1/jobs/:id/events', (_, response) => {
    openStream(response)
    response.end(sse('job', asJob(task)) + events + sse('end', asJob(end)))
  })
  return bodies
}

test('send shows the answer as it comes, and the whole text only if it did not come in parts', async () => {
  const bodies = answerWith(
    said('text_delta', { delta: 'Hello ' }) +
      said('text_delta', { delta: 'you' }) +
      said('text', { content: 'Hello you' }),
  )
  const sent = await stoker(['session', 'send', '0c', 'tell', 'me', '--input', 'n=3', '--timeout', '9s'])
  expect(sent).toMatchObject({ code: 0, stdout: 'Hello you\n' })
  expect(bodies).toEqual([{ input: { prompt: 'tell me', n: 3 }, timeout: '9s' }])
  answerWith(said('text', { content: 'all at once' }))
  expect((await stoker(['session', 'send', '0c', 'x'])).stdout).toBe('all at once\n')
})

test('send shows what the whole text says beyond its pieces', async () => {
  answerWith(said('text_delta', { delta: 'Hello ' }) + said('text', { content: 'Hello you' }))
  expect((await stoker(['session', 'send', '0c', 'x'])).stdout).toBe('Hello you\n')
  answerWith(said('text_delta', { delta: 'Helo' }) + said('text', { content: 'Hello you' }))
  expect((await stoker(['session', 'send', '0c', 'x'])).stdout).toBe('Helo\nHello you\n')
})

test('last and @name are my newest session that lives, and of that name', async () => {
  const session = (id: string, name: string, state: string) => ({ ...aSession, id, name, state })
  const pages = new Map([
    [null, { sessions: [session(ids[0], 'echo', 'ended'), session(ids[1], 'llm', 'waiting')], next: 'c1' }],
    ['c1', { sessions: [session(ids[2], 'echo', 'working'), session(ids[3], 'echo', 'waiting')], next: null }],
  ])
  hub().on('GET /api/v1/me', (_, response) => reply(response, 200, { owner: 'ann', role: 'submit', tokenId: 't' }))
  hub().on('GET /api/v1/sessions', ({ query }, response) => {
    expect(query.get('owner')).toBe('ann')
    reply(response, 200, pages.get(query.get('cursor')))
  })
  answerWith(said('text', { content: 'x' }))
  const asked = async (word: string) => {
    const { code, stderr } = await stoker(['session', 'send', word, 'x'])
    return code === 0
      ? hub()
          .seen.findLast(({ path }) => path.endsWith('/tasks'))
          ?.path.split('/')
          .at(-2)
      : stderr
  }
  expect(await asked('last')).toBe(ids[1])
  expect(await asked('@echo')).toBe(ids[2])
  expect(await asked('@echo~1')).toBe(ids[3])
  expect(await asked('@ecko')).toContain('"@ecko" names no session: ann has 0 named "ecko" that live')
  expect((await stoker(['session', 'show', 'last~9'])).code).toBe(3)
})

test('send gives the result as JSON, and ends as the task did', async () => {
  answerWith(said('text', { content: 'Hello you' }), 'failed')
  const sent = await stoker(['session', 'send', '0c', 'x', '--json'])
  expect(sent.code).toBe(100)
  expect(JSON.parse(sent.stdout)).toMatchObject({ id: task.id, exitCode: 100, result: { text: 'Hello you' } })
  expect(await stoker(['session', 'send', '0c', 'x'])).toMatchObject({
    code: 100,
    stderr: expect.stringContaining('failed: out of words'),
  })
})

test('a full session is told at once, and one that is not there exits with 3', async () => {
  hub().on('POST /api/v1/sessions/:id/tasks', (_, response) => refuse(response, 'session.full', 'room is for 1'))
  expect(await stoker(['session', 'send', '0c', 'x'])).toMatchObject({ code: 1, stderr: 'stoker: room is for 1\n' })
  hub().on('GET /api/v1/sessions/:id', (_, response) => refuse(response, 'session.not_found', 'no session 0c'))
  expect((await stoker(['session', 'show', '0c'])).code).toBe(3)
})

test('a word that is no end of an id is told how sessions are named, without a look', async () => {
  expect(await stoker(['session', 'send', 'chat', 'x'])).toMatchObject({
    code: 3,
    stderr: 'stoker: "chat" names no session\n  a session is named by id, last digits, last, last~2, @NAME\n',
  })
  expect(hub().seen).toEqual([])
})

test('start sends what the command line says of the session', async () => {
  const bodies: unknown[] = []
  hub().on('POST /api/v1/sessions', ({ body }, response) => {
    bodies.push(JSON.parse(body))
    refuse(response, 'spec.invalid', 'only looked at')
  })
  const words = ['--restarts', '2', '--idle-timeout', '1m', '--name', 'echo', '--', 'python3', 'x.py']
  await stoker(['session', 'start', ...words])
  await stoker(['session', 'start', '--preset', 'm/p'])
  expect(bodies).toEqual([
    { command: ['python3', 'x.py'], session: { idleTimeout: '1m', restarts: 2 }, name: 'echo' },
    { preset: 'm/p' },
  ])
})
