import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aZip, type Consumer, openConsumer } from './test-consumer.ts'

const SEED = 7
const RUNS = 400
const PATIENCE_MS = 20_000
let consumer: Consumer
let form: Buffer
let job = ''

beforeAll(async () => {
  consumer = await openConsumer()
  const zip = await aZip({ 'train.py': 'print(1)', 'requirements.txt': 'six\n' })
  const config = JSON.stringify({ project: { name: 'n' }, resources: { gpu: 0 } })
  job = (await consumer.push(config, zip)).json.job_id
  form = Buffer.concat([
    Buffer.from(`--b\r\nContent-Disposition: form-data; name="config"\r\n\r\n${config}\r\n`),
    Buffer.from(
      '--b\r\nContent-Disposition: form-data; name="project_zip"; filename="p.zip"\r\nContent-Type: application/zip\r\n\r\n',
    ),
    zip,
    Buffer.from('\r\n--b--\r\n'),
  ])
})
afterAll(() => consumer.close())

async function statusOf(method: string, path: string, body: Buffer | null, type: string): Promise<number> {
  const reply = await fetch(consumer.url + path, {
    method,
    headers: { authorization: `Bearer ${consumer.hub.admin}`, 'content-type': type },
    signal: AbortSignal.timeout(PATIENCE_MS),
    ...(body === null ? {} : { body: new Uint8Array(body) }),
  })
  await reply.arrayBuffer()
  return reply.status
}

/** Bytes taken out, put in or changed, anywhere. */
const damaged = fc
  .array(fc.tuple(fc.nat(), fc.constantFrom('cut', 'set', 'insert'), fc.nat(255)), { minLength: 1, maxLength: 8 })
  .map(edits =>
    edits.reduce((bytes, [at, how, value]) => {
      const place = at % (bytes.length + 1)
      const rest = bytes.subarray(how === 'insert' ? place : place + (how === 'cut' ? value : 1))
      return Buffer.concat([bytes.subarray(0, place), how === 'cut' ? Buffer.alloc(0) : Buffer.from([value]), rest])
    }, form),
  )

it('answers every damaged upload, and never with a fault of its own', async () => {
  await fc.assert(
    fc.asyncProperty(damaged, fc.constantFrom('/api/jobs', '/api/jobs/distributed'), async (body, path) => {
      const status = await statusOf('POST', path, body, 'multipart/form-data; boundary=b')
      expect([201, 400, 409, 413]).toContain(status)
    }),
    { seed: SEED, numRuns: RUNS },
  )
  expect(consumer.bugs).toEqual([])
})

it('answers odd paths, queries and bodies the same way', async () => {
  const odd = fc
    .string({ unit: 'binary', maxLength: 30 })
    .map(text => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '')))
  const part = fc.oneof(odd, fc.constantFrom('..', '%2e%2e', '%00', '%', job, `${job}.2`, `${job}.0`, 'x'.repeat(3000)))
  const path = fc.oneof(
    part.map(id => `/api/jobs/${id}`),
    part.map(id => `/api/jobs/${id}/logs?limit=${id}`),
    part.map(name => `/api/jobs/${job}/results/file/${name}`),
    part.map(id => `/api/workers/${id}/status`),
    part.map(id => `/api/workers/${id}`),
    part.map(query => `/api/jobs?limit=${query}&cursor=${query}`),
  )
  const body = fc.oneof(
    fc.json().map(text => Buffer.from(text)),
    fc.uint8Array().map(bytes => Buffer.from(bytes)),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('GET', 'PUT', 'DELETE', 'POST'), path, body, async (method, at, bytes) => {
      if (method === 'DELETE' && at.includes(job)) return
      expect(await statusOf(method, at, method === 'GET' ? null : bytes, 'application/json')).toBeLessThan(500)
    }),
    { seed: SEED, numRuns: RUNS },
  )
  expect(consumer.bugs).toEqual([])
})
