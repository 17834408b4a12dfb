import { TERMINAL_STATES } from '@stoker/protocol'
import { beforeEach, expect, test } from 'vitest'
import { aJob, asJob, openStream, reply, sse } from '../../../client/src/test-hub.ts'
import { useTestHub } from '../test-terminal.ts'
import { parseSelector } from './selector.ts'

const { hub, stoker } = useTestHub()
const canceled = () => acted('cancel')
const retried = () => acted('retry')

function acted(verb: string): string[] {
  return hub()
    .seen.filter(({ path }) => path.endsWith(`/${verb}`))
    .map(({ path }) => path.split('/').at(-2) ?? '')
}

/** Jobs of ann unless told otherwise, the last one being the newest. */
function have(...jobs: readonly Parameters<typeof aJob>[0][]): string[] {
  return jobs.map(of => {
    const job = aJob({ owner: 'ann', ...of })
    hub().jobs.set(job.id, job)
    return job.id
  })
}

beforeEach(() => {
  hub().on('GET /api/v1/me', (_, response) => reply(response, 200, { owner: 'ann', role: 'admin', tokenId: 't' }))
  hub().on('GET /api/v1/jobs', ({ query }, response) => {
    const states = query.get('state')?.split(',')
    const found = [...hub().jobs.values()].reverse().filter(job => {
      const labels = query
        .getAll('label')
        .every(pair => `${pair.split('=')[0]}=${job.labels[pair.split('=')[0] ?? '']}` === pair)
      const name = query.get('name') ?? job.name
      return (
        labels &&
        job.name === name &&
        job.owner === (query.get('owner') ?? job.owner) &&
        (states?.includes(job.state) ?? true)
      )
    })
    const from = Number(query.get('cursor') ?? 0)
    const to = from + Number(query.get('limit') ?? 50)
    reply(response, 200, { jobs: found.slice(from, to).map(asJob), next: to < found.length ? String(to) : null })
  })
  hub().on('POST /api/v1/jobs/:id/cancel', (_, response, id) => {
    const job = hub().jobs.get(id)
    reply(response, 202, { effect: 'canceled', job: asJob(job ?? aJob()) })
  })
  hub().on('POST /api/v1/jobs/:id/retry', (_, response, id) => {
    const job = aJob({ owner: 'ann', state: 'failed', retryOf: id })
    hub().jobs.set(job.id, job)
    reply(response, 201, { jobs: [{ id: job.id, unschedulable: null }] })
  })
})

test('last is my newest job, last~1 the one before it, and @name the newest of that name', async () => {
  const [first, second, third] = have({ name: 'a' }, { name: 'b' }, { name: 'a' }, { owner: 'bob', name: 'a' })
  const shown = async (word: string) => (await stoker(['show', '-q', word])).stdout.trim()
  expect([
    await shown('last'),
    await shown('last~1'),
    await shown('@a'),
    await shown('@a~1'),
    await shown('@b'),
  ]).toEqual([third, second, third, first, second])
})

test.each([
  ['last~3', '"last~3" names no job: ann has 2 jobs'],
  ['@tarin', '"@tarin" names no job: ann has no job named "tarin"; did you mean "@train"?'],
  ['failed', '"failed" names no job: ann has no such job'],
  ['lsat', '"lsat" names no job; did you mean "last"?'],
])('%s where there is no such job says what was looked for and what is near', async (word, sentence) => {
  have({ name: 'train' }, { name: 'train' })
  const { code, stderr } = await stoker(['show', word])
  expect(code).toBe(3)
  expect(stderr).toContain(sentence)
})

test('a state names all of my jobs in it, a label narrows them, and other owners are left alone', async () => {
  const labels = { exp: '7' }
  const [, b] = have(
    { state: 'active' },
    { state: 'active', labels },
    { state: 'failed', labels },
    { owner: 'bob', state: 'active', labels },
  )
  expect((await stoker(['cancel', 'running', '-l', 'exp=7', '-q'])).stdout).toBe(`${b}\n`)
})

test('labels alone mean what can still be canceled, or what did not succeed for a retry', async () => {
  const labels = { exp: '7' }
  const ids = have(...(['queued', 'active', ...TERMINAL_STATES] as const).map(state => ({ state, labels })))
  await stoker(['cancel', '-l', 'exp=7'])
  expect(canceled().sort()).toEqual(ids.slice(0, 2))
  await stoker(['retry', '-l', 'exp=7'])
  expect(retried().sort()).toEqual([ids[3], ids[5]])
})

test('retry failed twice retries only what failed since', async () => {
  const [a, b] = have({ state: 'failed' }, { state: 'failed' })
  await stoker(['retry', 'failed'])
  expect(retried().sort()).toEqual([a, b])
  await stoker(['retry', 'failed'])
  expect(retried()).toHaveLength(4)
  expect(new Set(retried()).size).toBe(4)
})

test('more than ten jobs that were not named are asked for; a no or nobody to ask leaves them alone', async () => {
  have(...Array.from({ length: 11 }, () => ({ state: 'queued' as const })))
  expect(await stoker(['cancel', 'queued'])).toMatchObject({ code: 2, stderr: expect.stringContaining('need --yes') })
  expect(await stoker(['cancel', 'queued'], { answer: 'n' })).toMatchObject({
    code: 1,
    stderr: 'cancel 11 jobs? [y/N] stoker: nothing was done\n',
  })
  expect(canceled()).toEqual([])
  expect((await stoker(['cancel', 'queued'], { answer: 'y' })).code).toBe(0)
  expect(canceled()).toHaveLength(11)
  expect((await stoker(['cancel', 'queued', '--yes', '--json'])).code).toBe(0)
})

test('many pages are gone through, each job once', async () => {
  have(...Array.from({ length: 1500 }, () => ({ state: 'queued' as const })))
  expect((await stoker(['cancel', 'queued', 'last', '--yes'])).code).toBe(0)
  expect(new Set(canceled()).size).toBe(1500)
  expect(canceled()).toHaveLength(1500)
})

test('wait and logs take the same words', async () => {
  const [, id] = have({}, { name: 'x', state: 'succeeded' })
  hub().on('GET /api/v1/jobs/:id/logs', (_, response, of) => response.end(`log of ${of}`))
  hub().on('GET /api/v1/jobs/:id/events', ({ query }, response, of) => {
    expect(query.get('output')).toBe('false')
    openStream(response)
    response.end(sse('end', asJob(hub().jobs.get(of) ?? aJob())))
  })
  expect((await stoker(['logs', '@x'])).stdout).toBe(`log of ${id}`)
  expect(await stoker(['wait', 'last', '-q'])).toMatchObject({ code: 0, stdout: `${id}\n` })
})

test.each([
  [['cancel'], 'name jobs, or choose them with --label'],
  [['cancel', 'abcd', '-l', 'a=b'], 'an id names one job'],
])('%j says what is missing', async (argv, sentence) => {
  expect(await stoker(argv)).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) })
})

test('an id stays an id, also when it looks like a word', () => {
  expect(['dead', 'FACE', '0189-0000'].map(word => parseSelector(word).kind)).toEqual(['id', 'id', 'id'])
})
