import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestHub, type TestHub } from './test-hub.ts'
import { TestWorker } from './test-worker.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await openTestHub()
})
afterAll(() => hub.close())

const entries = async (query = '') => (await hub.call('GET', `/api/v1/audit${query}`)).json

test('what an admin does is written down: who, what, on what, from where, and how it went', async () => {
  const made = await hub.call('POST', '/api/v1/tokens', { body: { role: 'submit', owner: 'anna', label: 'laptop' } })
  await TestWorker.join(hub, { name: 'box' })
  await hub.call('POST', '/api/v1/workers/box/drain')
  await hub.call('DELETE', '/api/v1/workers/nobody')
  await hub.call('PUT', '/api/v1/secrets/KEY', { body: { value: 'correct-horse' }, token: made.json.secret })
  const { entries: found } = await entries()
  expect(found).toMatchObject([
    { action: 'PUT /api/v1/secrets/:name', target: 'KEY', status: 200, by: { owner: 'anna', label: 'laptop' } },
    { action: 'DELETE /api/v1/workers/:id', target: 'nobody', status: 404 },
    { action: 'POST /api/v1/workers/:id/drain', target: 'box', status: 200, from: '127.0.0.1' },
    {
      action: 'POST /api/v1/tokens',
      status: 201,
      details: { role: 'submit', owner: 'anna', label: 'laptop' },
      by: { owner: 'ada', role: 'admin' },
    },
  ])
  expect(found[0].by.tokenId).toBe(made.json.id)
  expect(JSON.stringify(found)).not.toMatch(/correct-horse|stk_/)
})

test('reading, ordinary work and what was refused at the door leave no entry', async () => {
  const before = (await entries()).entries.length
  await hub.call('GET', '/api/v1/tokens')
  await hub.call('POST', '/api/v1/jobs', { body: { type: 'noop' } })
  await hub.call('POST', '/api/v1/tokens', { body: { role: 'admin' }, token: await hub.token('submit', 'eve') })
  await hub.call('POST', '/api/v1/tokens', { body: { role: 'nonsense' } })
  expect((await entries()).entries).toHaveLength(before)
})

test('an entry is durable before its deed, so a deed that cannot be written down is not done', async () => {
  const failing = await openTestHub()
  const execute = failing.engine.execute.bind(failing.engine)
  const done: string[] = []
  failing.engine.execute = async command => {
    done.push(command.kind)
    if (command.kind === 'audit') throw new Error('the disk is gone')
    return execute(command)
  }
  expect((await failing.call('POST', '/api/v1/tokens', { body: { role: 'read' } })).status).toBe(500)
  expect(done).toEqual(['audit'])
  await failing.close()
})

test('a list goes on page by page, newest first', async () => {
  for (const label of ['1', '2', '3']) await hub.call('POST', '/api/v1/tokens', { body: { role: 'read', label } })
  const first = await entries('?limit=2')
  const second = await entries(`?limit=1&cursor=${first.next}`)
  const labels = [...first.entries, ...second.entries].map(entry => entry.details.label)
  expect(labels).toEqual(['3', '2', '1'])
  expect((await hub.call('GET', '/api/v1/audit?cursor=x')).json.code).toBe('request.invalid')
})
