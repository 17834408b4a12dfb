import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TestGateway } from './test-gateway.ts'
import { nodesOf } from './test-nodes.ts'

let gateway: TestGateway
let held: string
beforeAll(async () => {
  gateway = await TestGateway.open()
  const { register, poll } = nodesOf(() => gateway)
  await register('n', { max: 2 })
  held = await gateway.submit()
  expect(await poll('n')).toEqual([held])
})
afterAll(() => gateway.close())

const ROUTES = [
  ['POST', '/api/workers/register'],
  ['POST', '/api/workers/heartbeat'],
  ['POST', '/api/workers/job-status'],
  ['POST', '/api/workers/unregister'],
  ['GET', '/api/workers/jobs?worker_id=ID'],
  ['POST', '/api/workers/ID/heartbeat'],
  ['PUT', '/api/workers/ID/settings'],
  ['GET', '/api/jobs/pending'],
  ['POST', '/api/jobs/ID/claim'],
  ['GET', '/api/jobs/ID/files'],
  ['POST', '/api/jobs/ID/logs'],
  ['POST', '/api/jobs/ID/logs/batch'],
  ['PUT', '/api/jobs/ID/status'],
  ['POST', '/api/jobs/ID/results'],
  ['POST', '/api/attempts/ID/start'],
  ['POST', '/api/attempts/ID/output?stream=stdout&offset=0'],
  ['POST', '/api/attempts/ID/end'],
  ['PUT', '/api/attempts/ID/blobs/ID'],
] as const

const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom('n', 'HELD', '..', '%', '\0'))
const odd = fc.oneof(fc.jsonValue(), text, fc.constantFrom(null, -1, 1e300, '', [], {}))
const known = fc.record(
  {
    worker_id: fc.oneof(text, odd),
    job_id: fc.oneof(fc.constant('HELD'), odd),
    status: fc.oneof(fc.constantFrom('running', 'completed', 'failed', 'cancelled', 'declined'), odd),
    exit_codes: fc.oneof(fc.array(fc.oneof(fc.integer(), odd)), odd),
    duration: odd,
    active_jobs: odd,
    worker_info: fc.oneof(fc.record({ worker_id: text, gpus: odd, cpu_count: odd, memory_total_gb: odd }), odd),
    capabilities: odd,
    gpu_status: fc.oneof(fc.record({ gpus: odd }), odd),
    logs: odd,
    message: odd,
  },
  { requiredKeys: [] },
)
const body = fc.oneof(known, odd, fc.constant(undefined))

it('no call, whatever is in it, is answered with a bug or not at all', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...ROUTES), text, body, fc.boolean(), async ([method, path], id, sent, isRaw) => {
      const url = path.replaceAll('ID', () => encoded(id === 'HELD' ? held : id))
      const whole = JSON.stringify(sent)?.replaceAll('HELD', held)
      const given = method === 'GET' ? undefined : isRaw ? whole?.slice(0, -1) : whole
      const { status } = await gateway.call(method, url, { body: given, headers: { connection: 'close' } })
      expect(status, `${method} ${url} ${given}`).toBeLessThan(500)
    }),
    { numRuns: 600 },
  )
  expect(gateway.logged.filter(line => line.includes('Error'))).toEqual([])
})

function encoded(id: string): string {
  return encodeURIComponent(id.replace(/\p{Surrogate}/gu, '')).replaceAll('.', '%2E') || 'x'
}
