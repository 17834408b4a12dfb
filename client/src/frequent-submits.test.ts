import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { selfSign } from '../../hub/src/listeners/certificate.ts'
import { type Client, createClient } from './client.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** What each connection carried, in the order of its opening. */
type Carried = Map<Socket, string[]>

async function listen<S extends Server>(server: S): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function answering(carried: Carried, act: (n: number, response: ServerResponse) => void = accept): RequestListener {
  let submits = 0
  return async (request, response) => {
    const words = carried.get(request.socket) ?? []
    carried.set(request.socket, words)
    words.push(`${request.method} ${request.url}`)
    if (request.method === 'GET') response.end(JSON.stringify({ workers: [] }))
    else {
      submits += 1
      await wholeBody(request)
      act(submits, response)
    }
  }
}

function accept(n: number, response: ServerResponse): void {
  response.writeHead(201, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jobs: [{ id: `job-${n}`, unschedulable: null }], groups: [] }))
}

async function wholeBody(request: IncomingMessage): Promise<void> {
  for await (const _ of request);
}

async function start(act?: (n: number, response: ServerResponse) => void) {
  const carried: Carried = new Map()
  const server = createServer(answering(carried, act))
  const port = await listen(server)
  const client = createClient({ url: `http://127.0.0.1:${port}` })
  ends.push(
    () => new Promise(resolve => server.close(resolve)),
    () => server.closeAllConnections(),
    () => client.close(),
  )
  return { client, carried, server }
}

/** Submits until one went on a connection of its own kind: the other HTTP client is loaded meanwhile. */
async function warmUp(client: Client, carried: Carried): Promise<number> {
  let count = 0
  await client.workers()
  await vi.waitUntil(async () => {
    await client.submit({ type: 'noop' })
    count += 1
    return carried.size > 1
  }, 15_000)
  return count
}

test('many submits leave the connections that carry other things, and each gets its own answer', async () => {
  const { client, carried } = await start()
  const count = await warmUp(client, carried)
  expect(count).toBeGreaterThan(8)
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) {
    await client.workers()
    ids.push((await client.submit({ type: 'noop' })).id)
  }
  expect(ids).toEqual([1, 2, 3, 4, 5].map(more => `job-${count + more}`))
  const [first, second, ...more] = [...carried.values()]
  expect(more).toEqual([])
  expect(first?.slice(-5)).toEqual(Array(5).fill('GET /api/v1/workers'))
  expect(new Set(second)).toEqual(new Set(['POST /api/v1/jobs']))
})

test('a submit whose connection broke is sent again with the same key', async () => {
  const keys: unknown[] = []
  let broken = 0
  const { client, carried } = await start((n, response) => {
    keys.push(response.req.headers['idempotency-key'])
    if (broken !== 1) return accept(n, response)
    broken = 2
    response.socket?.destroy()
  })
  await warmUp(client, carried)
  broken = 1
  const { id } = await client.submit({ type: 'noop' })
  expect(broken).toBe(2)
  expect(id).toBe(`job-${keys.length}`)
  expect(keys.at(-1)).toBe(keys.at(-2))
})

test('a hub that goes away is told in the words of the ordinary way', async () => {
  const { client, carried, server } = await start()
  await warmUp(client, carried)
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  await expect(client.submit({ type: 'noop' })).rejects.toThrow(/should answer at .*, nothing listens there/)
})

test('a submit that is given up ends with its reason', async () => {
  let isSilent = false
  let isReached = false
  const { client, carried } = await start((n, response) => {
    if (isSilent) isReached = true
    else accept(n, response)
  })
  await warmUp(client, carried)
  isSilent = true
  const stop = new AbortController()
  const submitted = client.submitAll([{ type: 'noop' }], { signal: stop.signal })
  await vi.waitUntil(() => isReached, 15_000)
  stop.abort(new Error('no longer wanted'))
  await expect(submitted).rejects.toThrow('no longer wanted')
})

test('the key of the hub is checked here as well', async () => {
  const own = await selfSign(Date.now())
  const other = await selfSign(Date.now())
  const carried: Carried = new Map()
  const server = createTlsServer(own, answering(carried))
  const client = createClient({ url: `https://127.0.0.1:${await listen(server)}`, trust: { pin: own.pin } })
  ends.push(
    () => new Promise(resolve => server.close(resolve)),
    () => server.closeAllConnections(),
    () => client.close(),
  )
  await warmUp(client, carried)
  server.setSecureContext(other)
  server.closeAllConnections()
  await expect(client.submit({ type: 'noop' })).rejects.toThrow(/has the key .*, pinned is/)
})
