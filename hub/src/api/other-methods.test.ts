import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestHub, type TestHub } from './test-hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await openTestHub()
})
afterAll(() => hub.close())

test.each([
  ['DELETE', '/api/v1/jobs', 'GET, HEAD, POST'],
  ['PUT', '/api/v1/jobs/0199/cancel?x=1', 'POST'],
  ['POST', '/api/v1/jobs/0199/artifacts/a/b.txt', 'GET, HEAD'],
  ['PATCH', '/join/abc/worker.tgz', 'GET, HEAD'],
])('%s %s is told what the path takes, and its body is not read', async (method, path, allow) => {
  const body = method === 'DELETE' ? null : '{ no JSON'
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(hub.url + path, { method, headers, body })
  expect(answer.status).toBe(405)
  expect(answer.headers.get('allow')).toBe(allow)
  expect(await answer.json()).toMatchObject({
    code: 'route.method',
    detail: `${method} came; this route takes ${allow}`,
  })
})

test.each(['/api/v1/job', '/api/v1/jobs/', '/join/abc/workerXtgz', '/api/v1/jobs/a/b/c'])(
  '%s is no path, whatever the method',
  async path => {
    const answer = await fetch(hub.url + path, { method: 'DELETE' })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ code: 'route.not_found' })
  },
)
