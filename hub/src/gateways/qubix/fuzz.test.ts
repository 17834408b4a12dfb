import { request } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { oddEncoded, oddHeaders, oddJson, oddText } from '../../api/test-oddities.ts'
import { GatewayHouse } from '../test-gateway-house.ts'
import { opensQubix, TestProvider } from './test-contract-worker.ts'

let house: GatewayHouse
let worker: TestProvider
beforeAll(async () => {
  house = await GatewayHouse.open(opensQubix)
  worker = await TestProvider.join(house, 'one')
  for (let i = 0; i < 20; i += 1) await house.submit({ type: 'custom_script', input: { script: 'x' } })
})
afterAll(() => house.close())

const FIELDS = [
  ...['worker_id', 'workerId', 'name', 'address', 'specs', 'capabilities', 'gpus', 'pricePerHour', 'usage', 'status'],
  ...['currentJob', 'progress', 'metrics', 'logLines', 'result', 'result_url', 'error', 'currentOperation'],
] as const

/** Half-right bodies go further in than nonsense. */
const oddBody = fc
  .tuple(
    fc.boolean(),
    fc.constantFrom('completed', 'failed', 'online', 'busy', 'offline'),
    fc.dictionary(fc.constantFrom(...FIELDS), fc.oneof(fc.jsonValue(), oddText)),
  )
  .map(([isNamed, status, odd]) => ({
    status,
    progress: 50,
    ...odd,
    ...(isNamed ? { workerId: worker.workerId } : {}),
  }))

const routes = fc.constantFrom(
  ['POST', '/api/providers/register'],
  ['POST', '/api/providers/ID/heartbeat'],
  ['GET', '/api/jobs/pending/ID'],
  ['POST', '/api/jobs/JOB/progress'],
  ['POST', '/api/jobs/JOB/complete'],
)

function send(method: string, path: string, headers: Record<string, string>, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: house.port, method, path, headers, agent: false, timeout: 20_000 })
    sent.on('response', answer => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)))
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path} hangs`)))
    sent.on('error', reject).end(method === 'GET' ? undefined : body)
  })
}

test('whatever is sent to any route, the answer is never a fault of the hub, and always comes', async () => {
  const sent = fc.tuple(routes, oddEncoded, fc.boolean(), fc.oneof(oddBody, oddJson, oddText), oddHeaders)
  await fc.assert(
    fc.asyncProperty(sent, async ([[method = '', path = ''], odd, isKnown, body, headers]) => {
      const job = (await worker.poll()).json[0]?.id ?? odd
      await house.pass(1000)
      const named = path.replace('ID', isKnown ? worker.workerId : odd).replace('JOB', isKnown ? job : odd)
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const { 'content-length': _, 'transfer-encoding': __, ...safe } = headers as Record<string, string>
      const status = await send(method, `/t/${worker.token}${named}`, safe, text ?? '')
      expect(status, `${method} ${named} ${text?.slice(0, 500)}`).toBeGreaterThanOrEqual(200)
      expect(status, `${method} ${named} ${text?.slice(0, 500)}`).toBeLessThan(500)
    }),
    { numRuns: 1500 },
  )
})
