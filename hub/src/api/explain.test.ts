import { Explanation } from '@stoker/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestDocument } from './test-document.ts'
import { openTestHub, type TestHub } from './test-hub.ts'
import { TestWorker } from './test-worker.ts'

let hub: TestHub
let document: TestDocument
beforeAll(async () => {
  hub = await openTestHub()
  document = await TestDocument.read(hub)
})
afterAll(() => hub.close())

async function submit(spec: object): Promise<string> {
  return (await document.call('POST', '/api/v1/jobs', { body: spec })).json.jobs[0].id
}

async function explain(id: string): Promise<Explanation> {
  const { json, status } = await document.call('GET', `/api/v1/jobs/${id}/explain`)
  expect(status).toBe(200)
  return Explanation.parse(json)
}

test('a job is explained in each of its states, and one nobody knows is not found', async () => {
  const lonely = await submit({ type: 'noop', name: 'lonely' })
  expect(await explain(lonely)).toMatchObject({
    job: { id: lonely, name: 'lonely', state: 'queued' },
    summary: 'no worker has joined this hub yet',
    position: null,
    start: { p50: null, basis: 'no worker that could run it takes jobs' },
  })
  const worker = await TestWorker.join(hub, { name: 'w', maxJobs: 1 })
  await worker.placed(lonely)
  expect(await explain(lonely)).toMatchObject({
    job: { state: 'active' },
    summary: 'leased on w (attempt 1); 1 of 1 known worker could run it',
    reasons: [],
  })
  const second = await submit({ type: 'noop' })
  expect(await explain(second)).toMatchObject({
    summary: '1 of 1 known worker could run it, not now',
    reasons: [{ when: 'notNow', codes: ['busy.slots'], text: 'w runs 1 of 1 jobs' }],
    start: { basis: 'no history' },
  })
  const held = await submit({ type: 'noop', hold: true })
  expect(await explain(held)).toMatchObject({ summary: 'held by ada', waitingFor: { heldBy: 'ada' }, position: null })
  await document.call('POST', `/api/v1/jobs/${held}/cancel`)
  expect(await explain(held)).toMatchObject({ job: { state: 'canceled' }, summary: 'it has ended: canceled by ada' })
  expect((await document.call('GET', '/api/v1/jobs/ffffffffffff/explain')).json).toMatchObject({
    code: 'job.not_found',
  })
})
