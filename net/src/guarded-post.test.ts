import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { guardedPost } from './guarded-post.ts'

const LIMITS = { timeoutMs: 10_000, allowPrivate: true }
const POST = { headers: { 'content-type': 'application/json', 'x-mark': 'seven' }, body: '{"a":1}' }

let server: Server | null = null
afterEach(async () => {
  if (server === null) return
  server.close()
  await once(server, 'close')
  server = null
})

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

test('the body and its headers arrive, and the status comes back', async () => {
  let got: unknown = null
  const url = await serve(async (request, response) => {
    got = { method: request.method, mark: request.headers['x-mark'], body: await text(request) }
    response.writeHead(204).end()
  })
  expect(await guardedPost(`${url}/hook`, POST, LIMITS)).toBe(204)
  expect(got).toEqual({ method: 'POST', mark: 'seven', body: '{"a":1}' })
})

test('a redirect is an answer, not a place to go to', async () => {
  let asked = 0
  const url = await serve((_, response) => {
    asked += 1
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  expect(await guardedPost(url, POST, LIMITS)).toBe(307)
  expect(asked).toBe(1)
})

test('a private address, also behind a name, is refused before anything is sent', async () => {
  let asked = 0
  const url = await serve((_, response) => {
    asked += 1
    response.end()
  })
  await expect(guardedPost(url, POST, { timeoutMs: 1_000 })).rejects.toMatchObject({ code: 'fetch.address' })
  const resolve = async () => ['10.0.0.7']
  await expect(guardedPost('http://inner.example/', POST, { timeoutMs: 1_000, resolve })).rejects.toMatchObject({
    code: 'fetch.address',
  })
  expect(asked).toBe(0)
})

test('a target that does not answer is given up at the deadline', async () => {
  const url = await serve(() => {})
  await expect(guardedPost(url, POST, { ...LIMITS, timeoutMs: 50 })).rejects.toMatchObject({ code: 'fetch.timeout' })
})
