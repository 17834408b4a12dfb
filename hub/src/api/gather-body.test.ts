import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { gatherBody } from './gather-body.ts'

const MIB = 1024 * 1024
let server: Server

beforeEach(async () => {
  server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

function send(length: number) {
  const { port } = server.address() as AddressInfo
  const sent = request({ port, host: '127.0.0.1', method: 'PUT', headers: { 'content-length': length } })
  sent.on('error', () => {})
  return sent
}

async function taken(): Promise<IncomingMessage> {
  const [incoming, response] = await once(server, 'request')
  incoming.on('error', () => {})
  incoming.on('end', () => response.end())
  return incoming
}

it('gives all bytes in their order, in lists worth a write', async () => {
  const bytes = Buffer.from(Array.from({ length: 3 * MIB + 5 }, (_, i) => i % 251))
  send(bytes.length).end(bytes)
  const lists: Buffer[] = []
  for await (const list of gatherBody(await taken())) lists.push(Buffer.concat(list))
  expect(Buffer.concat(lists).equals(bytes)).toBe(true)
  expect(lists.slice(0, -1).every(list => list.length >= MIB / 2)).toBe(true)
})

it('gives nothing for an empty body', async () => {
  send(0).end()
  for await (const _ of gatherBody(await taken())) expect.unreachable()
})

it('reads no further than one list ahead of whoever uses it', async () => {
  const all = 64 * MIB
  const sent = send(all)
  sent.end(Buffer.alloc(all))
  const raw = await taken()
  let came = 0
  const body = gatherBody(raw)
  const first = await body.next()
  raw.on('data', chunk => {
    came += chunk.length
  })
  for (let i = 0; i < 200; i += 1) await turn()
  expect(first.done).toBe(false)
  expect(came).toBeLessThan(2 * MIB)
  expect(raw.isPaused()).toBe(true)
  await body.return()
  raw.resume()
  await once(raw, 'end')
})

it('gives what came of a body that breaks off, and then says that it did', async () => {
  const sent = send(100)
  sent.write('begin')
  const raw = await taken()
  raw.once('data', () => sent.destroy())
  let text = ''
  const reading = async () => {
    for await (const list of gatherBody(raw)) text += Buffer.concat(list)
  }
  await expect(reading()).rejects.toThrow()
  expect(text).toBe('begin')
})

it('says so when it broke off before anybody asked', async () => {
  const sent = send(100)
  sent.write('begin')
  const raw = await taken()
  sent.destroy()
  await new Promise(resolve => raw.on('close', resolve))
  await expect(gatherBody(raw).next()).rejects.toThrow()
})
