import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestGateway } from './test-gateway.ts'
import { nodesOf, registration } from './test-nodes.ts'

let gateway: TestGateway
beforeEach(async () => {
  gateway = await TestGateway.open()
})
afterEach(() => gateway.close())
const { register } = nodesOf(() => gateway)

describe('who may call', () => {
  it('comes with a token of the role worker, as Basic, as Bearer or in the path', async () => {
    const paths = [
      '/api/workers/jobs?worker_id=n',
      '//api/workers/jobs?worker_id=n',
      `/t/${gateway.token}/api/workers/jobs?worker_id=n`,
    ]
    expect((await gateway.call('GET', paths[0] ?? '')).status).toBe(200)
    expect((await gateway.call('GET', paths[1] ?? '')).status).toBe(200)
    expect((await gateway.call('GET', paths[2] ?? '', { token: null })).status).toBe(200)
    expect((await gateway.call('GET', paths[0] ?? '', { token: null })).status).toBe(401)
    expect((await gateway.call('GET', paths[0] ?? '', { token: 'wrong' })).status).toBe(401)
    const submit = await gateway.aToken('submit', 'ada')
    expect((await gateway.call('GET', paths[0] ?? '', { token: submit })).status).toBe(403)
  })

  it('cannot speak for a worker of another owner', async () => {
    await register('n')
    const token = await gateway.aToken('worker', 'bob')
    const body = registration('n')
    expect((await gateway.call('POST', '/api/workers/register', { body, token })).status).toBe(409)
    expect((await gateway.call('GET', '/api/workers/jobs?worker_id=n', { token })).status).toBe(409)
    const admin = await gateway.aToken('admin', 'root')
    expect((await gateway.call('POST', '/api/workers/register', { body, token: admin })).status).toBe(200)
  })

  it.each([
    ['POST', '/api/workers/register', {}, 400],
    ['POST', '/api/workers/register', registration('jobs'), 400],
    ['POST', '/api/workers/register', registration('..'), 400],
    ['POST', '/api/workers/register', 'no json', 400],
    ['GET', '/api/workers/jobs', undefined, 400],
    ['GET', '/api/workers/jobs?worker_id=a&worker_id=b', undefined, 400],
    ['POST', '/api/workers/job-status', { worker_id: 'n', job_id: 'x', status: 'odd' }, 400],
    ['POST', '/api/workers/job-status', { worker_id: 'n' }, 400],
    ['POST', '/api/workers/job-status', { worker_id: 'n', job_id: 'unknown', status: 'running' }, 200],
    ['POST', '/api/workers/heartbeat', {}, 400],
    ['POST', '/api/workers/heartbeat', { worker_id: 'n', active_jobs: 'x', gpu_status: 7 }, 200],
    ['POST', '/api/workers/unregister', undefined, 400],
    ['POST', '/api/workers/nobody/heartbeat', { timestamp: 1 }, 404],
    ['POST', '/api/jobs/x/claim', { worker_id: 'n' }, 404],
    ['POST', '/api/jobs/x/claim', {}, 400],
    ['GET', '/api/jobs/x/files', undefined, 404],
    ['POST', '/api/jobs/x/logs', { message: 'a' }, 404],
    ['POST', '/api/jobs/x/logs', {}, 400],
    ['POST', '/api/jobs/x/logs/batch', { logs: 7 }, 400],
    ['PUT', '/api/jobs/x/status', { status: 'odd' }, 400],
    ['PUT', '/api/jobs/x/status', { status: 'completed' }, 200],
    ['POST', '/api/jobs/x/results', {}, 406],
    ['GET', '/nothing', undefined, 404],
  ])('is told what is wrong: %s %s %j → %i', async (method, path, body, status) => {
    const answer = await gateway.call(method, path, { body })
    expect({ status: answer.status, text: answer.text }).toEqual({ status, text: expect.stringMatching(/^\{/) })
    if (status >= 400) expect(answer.json.error).toEqual(expect.any(String))
  })
})
