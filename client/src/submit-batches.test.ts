import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Client, createClient } from './client.ts'
import { HubRefused } from './errors.ts'
import { refuse, startTestHub, TEST_TOKEN } from './test-hub.ts'

let hub: Awaited<ReturnType<typeof startTestHub>>
let client: Client

beforeEach(async () => {
  hub = await startTestHub()
  client = createClient({ url: hub.url, token: TEST_TOKEN })
})
afterEach(async () => {
  client.close()
  await hub.close()
})

test('submits of one turn travel in one request and every caller gets the id of its own job', async () => {
  const names = Array.from({ length: 50 }, (_, i) => `job-${i}`)
  const jobs = await Promise.all(names.map(name => client.submit({ name, command: ['true'] })))
  expect(hub.seen).toHaveLength(1)
  expect(jobs.map(job => hub.jobs.get(job.id)?.name)).toEqual(names)
})

test('callers that go on after one answer gather again, whatever their depth of awaits', async () => {
  const deep = async (depth: number) => {
    await client.submit({ command: ['true'] })
    for (let i = 0; i < depth; i += 1) await Promise.resolve()
    return client.submit({ command: ['true'] })
  }
  await Promise.all([deep(0), deep(3), deep(9)])
  expect(hub.seen).toHaveLength(2)
})

test('a bad spec is refused with its own issues and the others are submitted all the same', async () => {
  const results = await Promise.allSettled([
    client.submit({ name: 'first', command: ['true'] }),
    client.submit({ comand: ['true'] } as never),
    client.submit({ name: 'third', command: ['true'] }),
    client.submit({ command: ['true'], timeout: 'soon' }),
  ])
  expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
  expect([...hub.jobs.values()].map(job => job.name)).toEqual(['first', 'third'])
  expect(hub.seen).toHaveLength(2)
  const errors = results.flatMap(r => (r.status === 'rejected' && r.reason instanceof HubRefused ? [r.reason] : []))
  expect(errors.map(error => error.problem.errors?.map(issue => issue.path))).toEqual([['comand'], ['timeout']])
  expect(errors[0]?.message).toContain('did you mean "command"')
})

test('a preset that is not there refuses only the job that names it', async () => {
  const errors = [{ path: 'jobs[1].preset', message: 'no preset "x"' }]
  const take = hub.answerOf('POST /api/v1/jobs')
  hub.on('POST /api/v1/jobs', (request, response, id) =>
    request.body.includes('"preset"')
      ? refuse(response, 'preset.not_found', 'no preset "x"', errors)
      : take(request, response, id),
  )
  const asked = [{ type: 'noop' as const }, { preset: 'x' }, { type: 'noop' as const }].map(spec => client.submit(spec))
  const [first, second, third] = await Promise.allSettled(asked)
  expect([first?.status, second?.status, third?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  await expect(asked[1]).rejects.toMatchObject({ problem: { code: 'preset.not_found' } })
})

test('a refusal that names no job is narrowed down until only the guilty one is refused', async () => {
  const gpus = [0, 0, 0, 1, 0, 0]
  const results = await Promise.allSettled(
    gpus.map(n => client.submit({ command: ['true'], resources: { gpus: n } }, { failFast: true })),
  )
  expect(results.map(result => result.status === 'rejected')).toEqual(gpus.map(n => n > 0))
  expect(hub.jobs.size).toBe(5)
})

test('submits with other options or with a key of their own travel apart', async () => {
  await Promise.all([
    client.submit({ command: ['true'] }),
    client.submit({ command: ['true'] }, { failFast: true }),
    client.submit({ command: ['true'] }, { idempotencyKey: 'mine' }),
  ])
  expect(hub.seen.map(request => request.query.get('failFast')).sort()).toEqual([null, null, 'true'])
  expect(hub.seen.map(request => request.headers['idempotency-key'])).toContain('mine')
})

test('an answer lost on the way is asked for again with the same key and makes no second job', async () => {
  let losses = 2
  const submit = hub.answerOf('POST /api/v1/jobs')
  hub.on('POST /api/v1/jobs', async (request, response, id) => {
    if (losses-- <= 0) return submit(request, response, id)
    await submit(request, { writeHead: () => ({ end: () => response.destroy() }) } as never, id)
  })
  const jobs = await Promise.all([client.submit({ command: ['true'] }), client.submit({ command: ['false'] })])
  expect(hub.seen).toHaveLength(3)
  expect(new Set(hub.seen.map(request => request.headers['idempotency-key'])).size).toBe(1)
  expect([...hub.jobs.keys()]).toEqual(jobs.map(job => job.id))
})

test('a full disk refuses every caller with the words of the hub and is not tried again', async () => {
  hub.on('POST /api/v1/jobs', (_, response) => refuse(response, 'disk.full', 'needs 1 GB, has 10 MB'))
  const results = await Promise.allSettled([client.submit({ command: ['a'] }), client.submit({ command: ['b'] })])
  expect(results.map(r => (r.status === 'rejected' ? r.reason.message : 'accepted'))).toEqual([
    'needs 1 GB, has 10 MB',
    'needs 1 GB, has 10 MB',
  ])
  expect(hub.seen).toHaveLength(1)
})

test('more than one request holds is cut, and the order of ids still follows the specs', async () => {
  const jobs = await Promise.all(
    Array.from({ length: 10_050 }, (_, i) => client.submit({ type: 'noop', name: `n${i}` })),
  )
  expect(hub.seen.map(request => JSON.parse(request.body).jobs.length).sort((a, b) => a - b)).toEqual([50, 10_000])
  expect(jobs.every((job, i) => hub.jobs.get(job.id)?.name === `n${i}`)).toBe(true)
})

test('a list is all or none: one bad spec refuses it whole', async () => {
  const many = client.submitMany([{ command: ['true'] }, { command: [] }])
  await expect(many).rejects.toMatchObject({ problem: { code: 'spec.invalid', errors: [{ path: 'jobs[1].command' }] } })
  expect(hub.jobs.size).toBe(0)
})
