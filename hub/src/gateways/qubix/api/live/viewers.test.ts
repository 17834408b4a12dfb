import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../../../../api/test-events.ts'
import type { TestWorker } from '../../../../api/test-worker.ts'
import { setConnected } from '../../../../engine/liveness.ts'
import { joinProvider, openTestConsumer, type TestConsumer } from '../test-consumer.ts'

let consumer: TestConsumer
let worker: TestWorker
let ann: string
beforeAll(async () => {
  consumer = await openTestConsumer()
  worker = await joinProvider(consumer.hub, { name: 'w', gpus: [{ model: 'RTX 4090', vramGb: 24 }] })
  ann = await consumer.hub.token('submit', 'ann')
})
afterAll(async () => {
  await until(() => consumer.viewers.watching.viewers === 0)
  expect(consumer.viewers.watching).toEqual({ viewers: 0, jobs: 0, providers: 0 })
  expect(consumer.faults).toEqual([])
  await consumer.close()
})

interface Message {
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  readonly data: any
}

/** A page as clients of this dialect write one. */
class Page {
  readonly socket: WebSocket
  readonly #seen: Message[] = []
  #wake = (): void => {}

  constructor(path: string, token: string | null = ann) {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` }
    this.socket = new WebSocket(consumer.url.replace('http', 'ws') + path, { headers })
    this.socket.on('error', () => {})
    this.socket.on('message', data => {
      this.#seen.push(JSON.parse(String(data)))
      this.#wake()
    })
  }

  static async open(path = '/'): Promise<Page> {
    const page = new Page(path)
    await page.next('connected')
    return page
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** The first message of this type that was not looked at; those before it are passed over. */
  async next(type: string, isWanted: (data: Message['data']) => boolean = () => true): Promise<Message['data']> {
    for (;;) {
      const message = this.#seen.shift()
      if (message === undefined) {
        await new Promise<void>(resolve => {
          this.#wake = resolve
        })
      } else if (message.type === type && isWanted(message.data)) return message.data
    }
  }

  async close(): Promise<void> {
    this.socket.close()
    await once(this.socket, 'close')
  }
}

async function aJob(providerId?: string): Promise<string> {
  const body = { modelType: 'custom', computeNeeded: 1, inputData: { script: 'x' }, providerId }
  return (await consumer.call('POST', '/api/jobs/create', { token: ann, body })).json.job.id
}

describe('a job', () => {
  it('is told with its progress, its lines and its end', async () => {
    const id = await aJob()
    const page = await Page.open()
    page.say({ type: 'subscribe:job', subscriptionId: id })
    expect(await page.next('subscribed')).toEqual({ type: 'subscribe:job', subscriptionId: id })
    expect(await page.next('JOB_PROGRESS')).toMatchObject({ jobId: id, costSoFar: 0 })
    const fence = await worker.placed(id)
    await worker.running(fence)
    await page.next('JOB_PROGRESS', ({ status }) => status === 'RUNNING')
    consumer.hub.board.put(worker.id, {
      t: 'live',
      at: Date.now(),
      host: null,
      gpus: [],
      attempts: [{ fence, progress: { percent: 40, operation: 'step 4', metrics: {} }, cpus: null, memoryBytes: null }],
    })
    expect(await page.next('JOB_PROGRESS', ({ progress }) => progress === 40)).toMatchObject({
      currentOperation: 'step 4',
      timeRemaining: expect.any(Number),
    })
    await worker.output(fence, 'stdout', 'one\ntwo')
    expect((await page.next('JOB_LOGS')).logs).toMatchObject([{ message: 'one', level: 'info' }])
    await worker.ended(fence, { result: { n: 1 } })
    expect((await page.next('JOB_LOGS')).logs).toMatchObject([{ message: 'two' }])
    expect(await page.next('JOB_COMPLETED')).toMatchObject({ jobId: id, status: 'COMPLETED', result: { n: 1 } })
    await page.close()
  })

  it('that has ended is told at once, and one of another owner is unknown', async () => {
    const id = await aJob()
    await consumer.call('POST', `/api/jobs/${id}/cancel`, { token: ann })
    const fence = await worker.placed(id).catch(() => null)
    if (fence !== null) await worker.ended(fence, { outcome: 'canceled' })
    const page = await Page.open()
    page.say({ type: 'subscribe:job', subscriptionId: id })
    expect(await page.next('JOB_COMPLETED')).toMatchObject({ status: 'CANCELLED' })
    const { json } = await consumer.call('POST', '/api/jobs/create', {
      body: { modelType: 'generic', computeNeeded: 1 },
    })
    page.say({ type: 'subscribe:job', subscriptionId: json.job.id })
    expect((await page.next('error')).message).toMatch(/not found/)
    await page.close()
  })

  it('is not told any more when nobody asks', async () => {
    const id = await aJob()
    const page = await Page.open()
    page.say({ type: 'subscribe:job', subscriptionId: id })
    await page.next('JOB_PROGRESS')
    page.say({ type: 'unsubscribe', subscriptionId: `job:${id}` })
    await page.next('unsubscribed')
    await until(() => consumer.viewers.watching.jobs === 0)
    await page.close()
  })
})

describe('providers', () => {
  it('are told when they come, go and measure', async () => {
    const page = await Page.open('/ws')
    page.say({ type: 'subscribe:provider', subscriptionId: 'w' })
    await page.next('subscribed')
    const setAway = (isAway: boolean) => consumer.hub.engine.touch(state => setConnected(state, worker.id, !isAway))
    setAway(true)
    expect(await page.next('PROVIDER_STATUS_CHANGED')).toMatchObject({ providerId: worker.id, status: 'offline' })
    setAway(false)
    expect(await page.next('PROVIDER_STATUS_CHANGED')).toMatchObject({ previousStatus: 'offline' })
    const sample = { utilization: 70, memoryUsedMb: 512, temperatureC: 60, powerW: 100, powerLimitW: 450 }
    const gpus = [{ uuid: 'w-0', ...sample }]
    consumer.hub.board.put(worker.id, { t: 'live', at: Date.now(), host: null, gpus, attempts: [] })
    expect((await page.next('GPU_METRICS_UPDATE')).gpus).toMatchObject([
      { gpuUtilization: 70, gpuMemoryTotal: 24 * 1024, powerUsage: 100 },
    ])
    page.say({ type: 'subscribe:provider', subscriptionId: 'nobody' })
    expect((await page.next('error')).message).toMatch(/not found/)
    await page.close()
  })

  it('and jobs are counted for the marketplace', async () => {
    const page = await Page.open('/qubix')
    page.say({ type: 'subscribe:marketplace' })
    const { jobs } = await page.next('MARKETPLACE_UPDATE')
    await aJob()
    expect(await page.next('MARKETPLACE_UPDATE')).toMatchObject({ jobs: { total: jobs.total + 1 } })
    page.say({ type: 'unsubscribe' })
    await page.next('unsubscribed')
    expect(consumer.viewers.watching.providers).toBe(0)
    await page.close()
  })
})

describe('a page', () => {
  it('is answered when it pings or says nonsense', async () => {
    const page = await Page.open()
    page.say({ type: 'ping' })
    expect(await page.next('pong')).toHaveProperty('timestamp')
    for (const odd of ['', '{', '[]', 'null', '{"type":"subscribe:job"}', '{"type":"toString"}', '{"type":3}']) {
      page.say(odd)
      expect((await page.next('error')).message, odd).toMatch(/type/)
    }
    page.socket.send(Buffer.from([1, 2]))
    await page.next('error')
    await page.close()
  })

  it('that says too much is sent away', async () => {
    const page = await Page.open()
    page.say('x'.repeat(20_000))
    const [code] = await once(page.socket, 'close')
    expect(code).toBe(1009)
    const other = await Page.open()
    for (let i = 0; i < 300; i += 1) other.say({ type: 'subscribe:job', subscriptionId: String(i) })
    const [why] = await once(other.socket, 'close')
    expect(why).toBe(1008)
  })

  it.each([
    ['/', 'guess', 401],
    ['/', null, 401],
    ['/nowhere', undefined, 404],
  ])('at %s with the token %s is refused with %d', async (path, token, status) => {
    const page = new Page(path, token === undefined ? ann : token)
    const [, response] = await once(page.socket, 'unexpected-response')
    expect(response.statusCode).toBe(status)
    response.resume()
    page.socket.terminate()
  })

  it('comes in by a path with its token, and not as a worker', async () => {
    const page = new Page(`//t/${ann}/`, null)
    await page.next('connected')
    await page.close()
    const refused = new Page('/', await consumer.hub.token('worker', 'ann'))
    const [, response] = await once(refused.socket, 'unexpected-response')
    expect(response.statusCode).toBe(403)
    response.resume()
    refused.socket.terminate()
  })
})

it('asks pages whether they are there, drops the silent, and those whose token was taken back', async () => {
  let now = Date.now()
  const other = await openTestConsumer({ now: () => now })
  const connect = async (autoPong: boolean) => {
    const headers = { authorization: `Bearer ${other.hub.admin}` }
    const socket = new WebSocket(other.url.replace('http', 'ws'), { headers, autoPong })
    await once(socket, 'message')
    return socket
  }
  const [lively, silent] = [await connect(true), await connect(false)]
  const asked = Promise.all([once(lively, 'ping'), once(silent, 'ping')])
  await other.viewers.look()
  await asked
  now += 59_000
  lively.send('{"type":"ping"}')
  await once(lively, 'message')
  now += 1000
  const dropped = once(silent, 'close')
  await other.viewers.look()
  expect((await dropped)[0]).toBe(1006)
  const [token] = await other.hub.engine.read(({ tokens }) => [...tokens.keys()])
  await other.hub.engine.execute({ kind: 'revokeToken', id: token ?? '' })
  const sentAway = once(lively, 'close')
  await other.viewers.look()
  expect((await sentAway)[0]).toBe(1008)
  await other.close()
})
