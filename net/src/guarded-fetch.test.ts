import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { type GuardedFetchOptions, guardedFetch } from './guarded-fetch.ts'

const servers: Server[] = []
const limits: GuardedFetchOptions = { maxBytes: 1_000, timeoutMs: 10_000, allowPrivate: true }

afterEach(async () => {
  for (const server of servers.splice(0)) {
    await closed(server)
    expect(server.listening).toBe(false)
  }
})

/** Waits until the client has let go of its last connection by itself. */
async function closed(server: Server): Promise<void> {
  server.close()
  await once(server, 'close')
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

function redirectTo(location: string) {
  return serve((_, response) => response.writeHead(302, { location }).end('moved'))
}

test('the bytes, the final URL and the content type come back', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/old') response.writeHead(301, { location: '/new?x=1' }).end()
    else response.writeHead(200, { 'content-type': 'text/plain' }).end('hello')
  })
  const fetched = await guardedFetch(`${url}/old`, limits)
  expect(fetched).toEqual({ bytes: Buffer.from('hello'), finalUrl: `${url}/new?x=1`, contentType: 'text/plain' })
})

test.each(['ftp://example.org/x', 'file:///etc/passwd', 'data:text/plain,x', 'gopher://example.org'])(
  '%s is refused for its scheme',
  async url => {
    await expect(guardedFetch(url, limits)).rejects.toMatchObject({
      name: 'GuardedFetchError',
      code: 'fetch.scheme',
      message: expect.stringContaining('only http and https are fetched'),
    })
  },
)

test('text that is no URL is refused', async () => {
  await expect(guardedFetch('//nowhere', limits)).rejects.toMatchObject({ code: 'fetch.url' })
})

test.each([
  ['http://127.0.0.1/', 'loopback'],
  ['http://2130706433/', 'loopback'],
  ['http://0x7f.1/', 'loopback'],
  ['http://localhost/', 'loopback'],
  ['http://169.254.169.254/latest/meta-data', 'link-local'],
  ['http://10.0.0.1/', 'private'],
  ['http://100.64.0.1/', 'carrier-grade NAT'],
  ['http://0.0.0.0/', 'unspecified'],
  ['http://224.0.0.1/', 'multicast'],
  ['http://[::1]/', 'loopback'],
  ['http://[::]/', 'unspecified'],
  ['http://[fd00::1]/', 'private'],
  ['http://[fe80::1]/', 'link-local'],
  ['http://[::ffff:127.0.0.1]/', 'IPv4-mapped'],
  ['http://[::ffff:a9fe:a9fe]/', 'IPv4-mapped'],
])('%s is refused as %s', async (url, kind) => {
  await expect(guardedFetch(url, { ...limits, allowPrivate: false })).rejects.toMatchObject({
    code: 'fetch.address',
    message: expect.stringMatching(new RegExp(`only public addresses may be fetched, .* is ${kind}$`)),
  })
})

test('one private address among public ones refuses the name', async () => {
  const resolve = async () => ['93.184.216.34', '10.0.0.7']
  await expect(guardedFetch('http://two.test/', { ...limits, allowPrivate: false, resolve })).rejects.toThrow(
    'only public addresses may be fetched, two.test is 10.0.0.7, which is private',
  )
})

test('a name is resolved once per hop and reached at that address, so a second answer cannot redirect it', async () => {
  const url = await serve((request, response) => response.end(request.headers.host))
  const port = new URL(url).port
  const answers = [['127.0.0.1'], ['127.0.0.66']]
  const asked: string[] = []
  const resolve = async (hostname: string) => {
    asked.push(hostname)
    return answers.shift() ?? []
  }
  const fetched = await guardedFetch(`http://rebinding.test:${port}/`, { ...limits, resolve })
  expect(fetched.bytes.toString()).toBe(`rebinding.test:${port}`)
  expect(asked).toEqual(['rebinding.test'])
})

test('every hop is checked: a redirect from an allowed host to a private address is refused', async () => {
  let reached = 0
  const inner = await serve((_, response) => response.end(String(++reached)))
  const outer = await redirectTo(`${inner}/secret`)
  const allowPrivate = (hop: URL) => hop.href.startsWith(outer)
  await expect(guardedFetch(outer, { ...limits, allowPrivate })).rejects.toMatchObject({ code: 'fetch.address' })
  expect(reached).toBe(0)
})

test('a redirect to another scheme is refused', async () => {
  const url = await redirectTo('file:///etc/passwd')
  await expect(guardedFetch(url, limits)).rejects.toMatchObject({ code: 'fetch.scheme' })
})

test('five redirects are followed, a sixth is refused', async () => {
  const url = await serve((request, response) => {
    const left = Number(request.url?.slice(1))
    if (left === 0) response.end('there')
    else response.writeHead(307, { location: `/${left - 1}` }).end()
  })
  expect((await guardedFetch(`${url}/5`, limits)).bytes.toString()).toBe('there')
  await expect(guardedFetch(`${url}/6`, limits)).rejects.toMatchObject({
    code: 'fetch.redirects',
    message: `at most 5 redirects are followed, ${url}/6 has more`,
  })
})

test.each([404, 500, 304, 302])('status %i is refused with both facts', async status => {
  const url = await serve((_, response) => response.writeHead(status).end())
  await expect(guardedFetch(url, limits)).rejects.toMatchObject({
    code: 'fetch.status',
    message: `a 2xx answer is needed, ${url}/ gave ${status}`,
  })
})

test('a body of exactly the limit is accepted', async () => {
  const url = await serve((_, response) => response.end(Buffer.alloc(1_000)))
  expect((await guardedFetch(url, limits)).bytes).toHaveLength(1_000)
})

test('a body announced as too large is refused before it is read', async () => {
  const url = await serve((_, response) => response.end(Buffer.alloc(1_001)))
  await expect(guardedFetch(url, limits)).rejects.toThrow(`at most 1000 bytes are accepted, ${url}/ announces 1001`)
})

test('an endless body is cut off at the limit', async () => {
  const url = await serve((request, response) => {
    const pump = () => {
      while (!request.socket.destroyed && response.write(Buffer.alloc(100))) {}
    }
    response.on('drain', pump)
    pump()
  })
  await expect(guardedFetch(url, limits)).rejects.toMatchObject({
    code: 'fetch.size',
    message: `at most 1000 bytes are accepted, ${url}/ sends more`,
  })
})

test.each([
  ['never answers', () => {}],
  ['stops in the middle of its body', (_: IncomingMessage, response: ServerResponse) => response.write('half')],
])('a server that %s is left at the deadline', async (_, answer) => {
  const url = await serve(answer)
  await expect(guardedFetch(url, { ...limits, timeoutMs: 50 })).rejects.toMatchObject({
    code: 'fetch.timeout',
    message: `the answer may take 50 ms, ${url}/ took longer`,
  })
})

test('a name server that never answers is left at the deadline', async () => {
  const resolve = () => new Promise<string[]>(() => {})
  const waiting = guardedFetch('http://slow.test/', { ...limits, timeoutMs: 20, resolve })
  await expect(waiting).rejects.toMatchObject({ code: 'fetch.timeout' })
})

test("the caller's abort rejects with the caller's reason", async () => {
  const stop = new AbortController()
  const url = await serve(() => stop.abort(new Error('job canceled')))
  await expect(guardedFetch(url, { ...limits, signal: stop.signal })).rejects.toThrow('job canceled')
  await expect(guardedFetch(url, { ...limits, signal: stop.signal })).rejects.toThrow('job canceled')
})

test('an unknown name and a refused connection are told apart', async () => {
  const resolve = () => Promise.reject(new Error('ENOTFOUND'))
  await expect(guardedFetch('http://none.test/', { ...limits, resolve })).rejects.toMatchObject({
    code: 'fetch.unresolved',
    message: 'the URL names none.test, which has no address',
  })
  const url = await serve((_, response) => response.end())
  await closed(servers.splice(0)[0] ?? createServer())
  await expect(guardedFetch(url, limits)).rejects.toMatchObject({ code: 'fetch.network' })
})

test('a body that ends before its announced length is an error, not a short result', async () => {
  const url = await serve((request, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('half', () => request.socket.destroy())
  })
  await expect(guardedFetch(url, limits)).rejects.toMatchObject({ code: 'fetch.network' })
})

test('what a signed URL grants is in no message', async () => {
  const url = await serve((request, response) => {
    if (request.url?.startsWith('/big')) response.end(Buffer.alloc(2_000))
    else if (request.url?.startsWith('/slow')) return
    else response.writeHead(403).end()
  })
  const signed = (path: string) => `${url.replace('//', '//user:s3cret@')}/${path}?token=s3cret#s3cret`
  for (const path of ['denied', 'big', 'slow']) {
    const error = await guardedFetch(signed(path), { ...limits, timeoutMs: 100 }).catch(failure => failure)
    expect(error.message).toContain(`${url}/${path}`)
    expect(error.message).not.toContain('s3cret')
  }
})
