import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { createServer, request, type Server } from 'node:https'
import { type AddressInfo, connect, createServer as createTcp, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type Certificate, selfSign } from '../../hub/src/listeners/certificate.ts'
import { parsePin } from './pin.ts'
import { dialTrusted, type Trust, trustedAgent } from './pinned-tls.ts'
import { proxyFor } from './proxy.ts'

const YEAR_MS = 366 * 24 * 3600_000
const own = await selfSign(Date.now())
const other = await selfSign(Date.now())
const expired = await selfSign(Date.now() - 11 * YEAR_MS)
const closing: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function listen(server: Server | ReturnType<typeof createHttp> | ReturnType<typeof createTcp>): Promise<number> {
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  closing.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

/** Answers every request with its path and remembers what came. */
async function tlsServer({ cert, key }: Certificate) {
  const heard: string[] = []
  const server = createServer({ cert, key }, (call, reply) => {
    heard.push(`${call.url} ${call.headers.authorization}`)
    reply.end('hello')
  })
  return { port: await listen(server), heard }
}

async function ask(port: number, trust: Trust, host = '127.0.0.1'): Promise<string> {
  const agent = trustedAgent(true, trust)
  closing.push(() => agent.destroy())
  const call = request({ host, port, path: '/x', agent, headers: { authorization: 'Bearer secret' } })
  call.end()
  const [reply] = await once(call, 'response')
  let text = ''
  for await (const part of reply) text += part
  return text
}

test('the pinned key is enough, whatever name, date and issuer the certificate has', async () => {
  const { port, heard } = await tlsServer(own)
  expect(await ask(port, { pin: own.pin })).toBe('hello')
  expect(await ask(port, { pin: own.pin.replace('/', '//') })).toBe('hello')
  const old = await tlsServer(expired)
  expect(await ask(old.port, { pin: expired.pin })).toBe('hello')
  expect(heard).toEqual(['/x Bearer secret', '/x Bearer secret'])
})

test('another key is refused with both fingerprints before a byte of the request is sent', async () => {
  const { port, heard } = await tlsServer(other)
  const failed = await ask(port, { pin: own.pin }).catch(error => error)
  expect(failed.message).toContain(`has the key ${other.pin}`)
  expect(failed.message).toContain(`pinned is ${own.pin}`)
  expect(failed.code).toBe('STOKER_WRONG_PIN')
  expect(heard).toEqual([])
})

test('without a pin an authority must vouch for the name and the date', async () => {
  const { port } = await tlsServer(own)
  await expect(ask(port, {})).rejects.toThrow('is not accepted: it is self-signed')
  await expect(ask(port, {})).rejects.toThrow(own.pin)
  expect(await ask(port, { ca: own.cert })).toBe('hello')
  await expect(ask(port, { ca: other.cert })).rejects.toThrow(/not accepted/)
  const old = await tlsServer(expired)
  await expect(ask(old.port, { ca: expired.cert })).rejects.toThrow(/it has expired \(valid until/)
  await expect(ask(port, { ca: own.cert }, '127.0.0.2')).rejects.toThrow(/it is for other names/)
})

test('what is no pin, and a pin for a plain address, are refused at once', () => {
  expect(() => trustedAgent(true, { pin: 'sha256/short' })).toThrow('found sha256/short')
  expect(() => trustedAgent(false, { pin: own.pin })).toThrow('a pin needs an https address')
  for (const text of ['', 'sha1/x', own.pin.slice(1), `${own.pin}x`]) expect(parsePin(text)).toBeNull()
})

test('a server that hangs up or does not speak TLS is named', async () => {
  const port = await listen(createTcp(socket => socket.destroy()))
  const target = { host: '127.0.0.1', port, secure: true }
  await expect(dialTrusted(target, { pin: own.pin })).rejects.toThrow(/hung up|ECONNRESET|disconnected/)
  const plain = await listen(createHttp((_, reply) => reply.end()))
  await expect(dialTrusted({ ...target, port: plain }, { pin: own.pin })).rejects.toThrow(/SSL|wrong version/i)
})

/** A proxy that opens ways for whoever knows the password. */
async function connectProxy(): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  const proxy = createHttp()
  proxy.on('connect', (call, client: Socket) => {
    asked.push(call.url ?? '')
    if (call.headers['proxy-authorization'] !== `Basic ${Buffer.from('ann:pass word').toString('base64')}`) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    const [host, port] = (call.url ?? '').split(':')
    const way = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(way).pipe(client)
    })
    for (const socket of [client, way]) sockets.add(socket.on('error', () => {}))
  })
  const port = await listen(proxy)
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  return { port, asked }
}

test('a proxy carries the secure connection, and its refusal is told with its status', async () => {
  const { port } = await tlsServer(own)
  const proxy = await connectProxy()
  const way = proxyFor('https://hub', {}, `http://ann:pass%20word@127.0.0.1:${proxy.port}`)
  expect(await ask(port, { pin: own.pin, proxy: way })).toBe('hello')
  expect(proxy.asked).toEqual([`127.0.0.1:${port}`])
  await expect(ask(port, { pin: other.pin, proxy: way })).rejects.toThrow(own.pin)
  const noPassword = proxyFor('https://hub', {}, `127.0.0.1:${proxy.port}`)
  await expect(ask(port, { pin: own.pin, proxy: noPassword })).rejects.toThrow(/it answered 407/)
})
