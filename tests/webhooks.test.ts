import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebhookBody } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { run } from './harness/jobs.ts'

let house: House
let target: Server
let isWell: boolean
let told: { readonly id: string; readonly job: string }[]

beforeEach(async () => {
  house = await House.open()
  told = []
  isWell = false
  target = createServer(async (request, response) => {
    const body = WebhookBody.parse(JSON.parse(await text(request)))
    if (isWell) told.push({ id: String(request.headers['webhook-id']), job: body.data.job?.id ?? '' })
    response.writeHead(isWell ? 204 : 503).end()
  }).listen(0, '127.0.0.1')
  await once(target, 'listening')
})

afterEach(async () => {
  target.closeAllConnections()
  target.close()
  await house.close()
})

it('tells every end after a target was away and the hub was killed in between', async () => {
  const args = ['--webhook-allow', '127.0.0.1']
  const hub = await house.startHub({ args })
  await house.startWorker('w')
  const address = target.address()
  const port = typeof address === 'object' ? address?.port : 0
  const webhook = await house.client.addWebhook({ url: `http://127.0.0.1:${port}/hook` })
  const jobs = []
  for (let n = 0; n < 3; n++) jobs.push((await run(house.client, { type: 'noop' })).id)
  const states = async () =>
    (await house.client.webhook(webhook.id)).deliveries.map(({ state, status }) => [state, status])
  await expect.poll(states, { timeout: 20_000 }).toEqual(jobs.map(() => ['pending', 503]))
  await hub.kill()
  isWell = true
  await house.startHub({ args })
  await expect.poll(() => new Set(told.map(({ job }) => job)), { timeout: 60_000 }).toEqual(new Set(jobs))
  expect(new Set(told.map(({ id }) => id))).toEqual(new Set(jobs.map(job => `${webhook.id}.${job}`)))
  await expect.poll(states, { timeout: 20_000 }).toEqual(jobs.map(() => ['delivered', 204]))
})
