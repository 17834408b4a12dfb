import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { HubAway, HubCalls, isTemporary } from './hub-calls.ts'

let server: Server | null = null
let calls: HubCalls | null = null
afterEach(async () => {
  calls?.close()
  server?.closeAllConnections()
  await new Promise(resolve => (server === null ? resolve(null) : server.close(resolve)))
  server = null
})

async function callsTo(listener: RequestListener, path = '', login: string | null = null): Promise<HubCalls> {
  const listening = createServer(listener)
  server = listening
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  calls = new HubCalls(`http://127.0.0.1:${(listening.address() as AddressInfo).port}${path}`, { login })
  return calls
}

const GET = { method: 'GET', path: '/api/x', timeoutMs: 5_000 } as const

it('adds the prefix and the login of the hub to every call', async () => {
  const seen: unknown[] = []
  const hub = await callsTo(
    (request, response) => {
      seen.push(request.url, request.headers.authorization)
      response.end('{"a":1}')
    },
    '/t/TOKEN',
    'user:päss',
  )
  expect(await hub.send(GET)).toEqual({ status: 200, json: { a: 1 }, text: '{"a":1}' })
  expect(seen).toEqual(['/t/TOKEN/api/x', `Basic ${Buffer.from('user:päss').toString('base64')}`])
})

it('does not follow redirects', async () => {
  let count = 0
  const hub = await callsTo((_, response) => {
    count += 1
    response.writeHead(301, { location: '/elsewhere' }).end()
  })
  expect(await hub.send(GET)).toMatchObject({ status: 301 })
  expect(count).toBe(1)
})

it('takes a web page for a hub that is away, whatever its status', async () => {
  const hub = await callsTo((_, response) => response.end('\n<!DOCTYPE html><p>log in first'))
  await expect(hub.send(GET)).rejects.toThrow(HubAway)
})

it('gives what is no JSON as text only', async () => {
  const hub = await callsTo((_, response) => response.end('{"half":'))
  expect(await hub.send(GET)).toEqual({ status: 200, json: undefined, text: '{"half":' })
})

it('ends a call that takes too long, also when bytes trickle in', async () => {
  const hub = await callsTo((_, response) => {
    const drip = setInterval(() => response.write(' '), 5)
    response.on('close', () => clearInterval(drip))
  })
  await expect(hub.send({ ...GET, timeoutMs: 100 })).rejects.toThrow(HubAway)
})

it('reads no more than a bounded answer', async () => {
  const hub = await callsTo((_, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(1 << 20, 32)));
      response.once('drain', more)
    }
    more()
  })
  await expect(hub.send(GET)).rejects.toThrow(/at most 16777216 bytes/)
})

it.each([
  [500, true],
  [503, true],
  [401, true],
  [429, true],
  [400, false],
  [404, false],
  [413, false],
])('%i is worth another try: %s', (status, again) => {
  expect(isTemporary(status)).toBe(again)
})
