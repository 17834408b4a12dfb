import { Agent, type IncomingMessage, request } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../../../api/test-events.ts'
import { oddEncoded, oddHeaders, oddJson, oddText } from '../../../api/test-oddities.ts'
import { joinProvider, openTestConsumer, type TestConsumer } from './test-consumer.ts'

let consumer: TestConsumer
let known: readonly string[]
const agent = new Agent({ keepAlive: true, maxSockets: 4 })
beforeAll(async () => {
  consumer = await openTestConsumer()
  const { id } = await joinProvider(consumer.hub, { gpus: [{ model: 'RTX 4090', vramGb: 24 }] })
  const body = { modelType: 'custom', computeNeeded: 1, inputData: { script: 'x' } }
  const { json } = await consumer.call('POST', '/api/jobs/create', { body })
  known = [id, json.job.id]
})
afterAll(async () => {
  agent.destroy()
  expect(consumer.faults).toEqual([])
  await consumer.close()
})

const ROUTES = [
  'GET /health',
  'POST /api/jobs/create',
  'POST /api/jobs/submit',
  'POST /api/jobs/estimate',
  'POST /api/jobs/analyze',
  'GET /api/jobs/{}',
  'GET /api/jobs/user/{}',
  'GET /api/jobs/{}/monitor',
  'GET /api/jobs/{}/metrics?timeRange={}',
  'GET /api/jobs/{}/logs?level={}&limit={}&offset={}',
  'GET /api/jobs/{}/artifacts/{}',
  'POST /api/jobs/{}/cancel',
  'GET /api/providers?gpuModel={}&minVram={}&availability={}&details=true',
  'GET /api/providers/{}',
  'POST /api/providers/match',
  'POST /api/providers/{}/pause',
  'POST /api/providers/{}/resume',
  'GET /api/stats',
  'GET /api/earnings/{}/active-jobs',
]

/** Bodies that are nearly right. */
const oddWish = fc
  .record(
    Object.fromEntries(
      [
        'modelType',
        'jobType',
        'computeNeeded',
        'inputData',
        'dataset',
        'maxPrice',
        'providerId',
        'jobAnalysis',
        'advancedConfig',
        'sortBy',
        'qubicAddress',
      ].map(key => [
        key,
        fc.oneof(
          fc.jsonValue(),
          oddText,
          fc.double(),
          fc.constantFrom(
            1,
            'custom',
            'mnist',
            'training',
            'image-generation',
            'rendering',
            { script: 'x' },
            { script: 'x', env: { 'bad name': 'x' }, network: true },
            { dataset: 'x', model: 'y', input: 1, baseModel: 'z', epochs: 1e300 },
            { estimatedVRAM: 1e6, estimatedRAM: 0.0001 },
            { gpus: 64, dockerImage: 'UPPER CASE', maxDuration: 1e-9 },
            { environmentVars: { A: '\u0000' } },
          ),
        ),
      ]),
    ),
    { requiredKeys: ['modelType', 'computeNeeded'] },
  )
  .map(wish => JSON.stringify(wish))

const oddForm = fc
  .tuple(oddText, oddText, fc.constantFrom('a.py', 'b.ipynb', 'Dockerfile', 'c.bin', ''), fc.boolean())
  .map(([name, text, file, ends]) => {
    const head = `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${file}"\r\n\r\n`
    return `${head}${text}${ends ? '\r\n--b--\r\n' : ''}`
  })

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function send({ method, path, headers, body }: Sent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(consumer.url, { method, path, headers, agent }, (reply: IncomingMessage) => {
      let text = ''
      reply.setEncoding('utf8')
      reply.on('data', part => {
        text += part
      })
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }))
      reply.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

test('whatever is sent to any route is answered, and never with a fault of the hub', async () => {
  const id = fc.oneof(oddEncoded, fc.integer({ min: 0, max: 1 }).map(String))
  const sent = fc
    .tuple(
      fc.constantFrom(...ROUTES),
      fc.array(id, { minLength: 4, maxLength: 4 }),
      fc.oneof(oddJson, oddWish, oddWish, oddText, oddForm),
      oddHeaders,
      fc.boolean(),
    )
    .map(([route, ids, body, headers, isForm]): Sent => {
      const [method = 'GET', template = '/'] = route.split(' ')
      const path = template.replaceAll('{}', () => {
        const chosen = ids.pop() ?? 'x'
        return known[Number(chosen)] ?? chosen
      })
      const type = isForm ? 'multipart/form-data; boundary=b' : 'application/json'
      return {
        method,
        path,
        headers: { authorization: `Bearer ${consumer.hub.admin}`, 'content-type': type, ...headers },
        body: method === 'GET' ? '' : body,
      }
    })
  await fc.assert(
    fc.asyncProperty(sent, async what => {
      const { status, text } = await send(what)
      const told = `${JSON.stringify(what).slice(0, 600)} was answered ${status} ${text.slice(0, 300)}`
      expect(status, told).toBeGreaterThanOrEqual(200)
      expect(status, told).toBeLessThan(500)
      if (status >= 400) expect(JSON.parse(text), told).toMatchObject({ success: false, error: expect.any(String) })
    }),
    { numRuns: 1500 },
  )
})

test('whatever a page says, it is answered or sent away', async () => {
  const words = fc.oneof(
    oddJson,
    oddText,
    fc
      .record({
        type: fc.constantFrom('subscribe:job', 'subscribe:provider', 'subscribe:marketplace', 'unsubscribe', 'ping'),
        subscriptionId: fc.oneof(oddText, fc.jsonValue()),
      })
      .map(message => JSON.stringify(message)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(words, { minLength: 1, maxLength: 20 }), async said => {
      const headers = { authorization: `Bearer ${consumer.hub.admin}` }
      const page = new WebSocket(consumer.url.replace('http', 'ws'), { headers })
      const over = new Promise<void>(resolve => {
        page.on('close', () => resolve())
        page.on('message', data => {
          if (String(data).includes('"pong"')) page.close()
        })
        page.on('open', () => {
          for (const text of said) page.send(text)
          page.send('{"type":"ping"}')
        })
        page.on('error', () => {})
      })
      await over
    }),
    { numRuns: 100 },
  )
  await until(() => consumer.viewers.watching.viewers === 0)
  expect(consumer.viewers.watching).toEqual({ viewers: 0, jobs: 0, providers: 0 })
})
