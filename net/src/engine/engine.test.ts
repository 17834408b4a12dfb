import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { engineAddressText, parseEngineAddress } from './address.ts'
import { connectEngine } from './engine.ts'
import { EngineAway, EngineRefused } from './errors.ts'

let folder = ''
let server: Server
let asked: string[] = []
let onCall: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => void response.end()

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-engine-'))
  asked = []
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    if (request.url === '/_ping') response.end('OK')
    else onCall(request, response)
  })
  await new Promise<void>(resolve => server.listen(join(folder, 's'), resolve))
})
afterEach(async () => {
  await new Promise(resolve => server.close(resolve))
  await rm(folder, { recursive: true })
})
const address = () => parseEngineAddress(`unix://${join(folder, 's')}`)

test('calls speak the version both sides know, with JSON both ways', async () => {
  onCall = (request, response) => {
    let text = ''
    request.on('data', part => {
      text += String(part)
    })
    request.on('end', () => response.end(JSON.stringify({ got: JSON.parse(text) })))
  }
  const engine = await connectEngine(address())
  expect(await engine.call('POST', '/containers/create?name=x', { body: { Image: 'é' } })).toEqual({
    got: { Image: 'é' },
  })
  expect(asked).toEqual(['GET /_ping', 'POST /containers/create?name=x'])
})

test('a refusal has the status and the words of the engine', async () => {
  onCall = (_, response) => void response.writeHead(404).end('{"message":"No such image: x"}')
  const engine = await connectEngine(address())
  const refused = await engine.call('GET', '/images/x/json').catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(EngineRefused)
  expect(refused).toMatchObject({ status: 404, message: 'No such image: x' })
  await expect(engine.attach('gone')).rejects.toMatchObject({ status: 404, message: 'No such image: x' })
})

test('an attached stream goes both ways, from its first byte', async () => {
  let theirs: Duplex | undefined
  server.on('upgrade', (request, socket: Duplex) => {
    asked.push(`upgrade ${request.url}`)
    theirs = socket
    socket.write('HTTP/1.1 101 UPGRADED\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\nearly ')
    socket.on('data', part => socket.end(part))
  })
  const stream = await (await connectEngine(address())).attach('a b')
  stream.end('late')
  let text = ''
  for await (const part of stream) text += String(part)
  expect(text).toBe('early late')
  expect(asked).toContain('upgrade /containers/a%20b/attach?stream=1&stdin=1&stdout=1&stderr=1')
  theirs?.destroy()
})

test('no engine is said as what it is', async () => {
  const missing = connectEngine({ kind: 'socket', path: join(folder, 'none') })
  await expect(missing).rejects.toThrow(EngineAway)
  await expect(missing).rejects.toThrow(/none \(there is no socket\); start it, or say where it is with DOCKER_HOST/)
  await expect(connectEngine({ kind: 'tcp', host: '127.0.0.1', port: 9 })).rejects.toThrow(/nothing listens there/)
})

test.each([
  [undefined, '/var/run/docker.sock'],
  ['', '/var/run/docker.sock'],
  ['unix:///run/x.sock', '/run/x.sock'],
  ['/run/x.sock', '/run/x.sock'],
  ['tcp://10.0.0.1:99', '10.0.0.1:99'],
  ['tcp://box', 'box:2375'],
  ['tcp://[::1]:5', '::1:5'],
])('DOCKER_HOST %j is %s', (text, means) => {
  expect(engineAddressText(parseEngineAddress(text))).toBe(means)
})

test.each(['ssh://a@b', 'unix://relative', 'npipe:////./pipe/x', 'nonsense', `unix:///${'x'.repeat(120)}`])(
  'DOCKER_HOST %j is refused',
  text => {
    expect(() => parseEngineAddress(text)).toThrow(RangeError)
  },
)
