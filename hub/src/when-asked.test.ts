import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DialectService } from './dialect-door.ts'
import { routeUpgrades } from './serving/upgrades.ts'
import { type ServiceWhenAsked, whenAsked } from './when-asked.ts'

let loads: number
let closed: number
let fault: Error | null
let lines: string[]
let service: ServiceWhenAsked
let server: Server

const LOADED: DialectService = {
  request: (request, response) => void text(request).then(body => response.end(`${request.url} ${body}`)),
  close: async () => {
    closed += 1
  },
}

beforeEach(async () => {
  loads = 0
  closed = 0
  fault = null
  lines = []
  const load = async () => {
    loads += 1
    if (fault !== null) throw fault
    return LOADED
  }
  service = whenAsked(load, (_level, line) => lines.push(line))
  server = createServer(service.request)
  routeUpgrades(server, [{ prefix: '/x', take: service.upgrade }])
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise(done => server.close(done))
})

async function ask(path: string, body: string): Promise<[number, string]> {
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })
  return [answer.status, await answer.text()]
}

async function askToUpgrade(): Promise<string> {
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  return (await text(socket)).split('\r\n')[0] ?? ''
}

it('is loaded once, by whoever asks first, and no request loses its body', async () => {
  expect(loads).toBe(0)
  const answers = await Promise.all([ask('/a', 'one'), ask('/b', 'two')])
  expect(answers).toEqual([
    [200, '/a one'],
    [200, '/b two'],
  ])
  expect(await ask('/c', 'three')).toEqual([200, '/c three'])
  expect(loads).toBe(1)
})

it('answers 500 and says why when it cannot be loaded, and tries again at the next request', async () => {
  fault = new Error('its file is gone')
  expect(await ask('/a', '')).toEqual([500, ''])
  expect(await askToUpgrade()).toBe('HTTP/1.1 500 Internal Server Error')
  expect(lines[0]).toContain('its file is gone')
  fault = null
  expect(await ask('/a', 'x')).toEqual([200, '/a x'])
})

it('refuses an upgrade that the service does not know', async () => {
  expect(await askToUpgrade()).toBe('HTTP/1.1 404 Not Found')
})

it('is closed only if it was opened', async () => {
  await service.close()
  expect([loads, closed]).toEqual([0, 0])
  await service.open()
  await service.close()
  expect([loads, closed]).toEqual([1, 1])
})
