import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type QuickAnswer, QuickLane } from './quick-lane.ts'

const LINE = 'POST /quick HTTP/1.1'
const LARGE = 'x'.repeat(2 ** 24)

let answer: QuickAnswer
let lane: QuickLane
let open: Socket[]
let server: Server
beforeEach(async () => {
  open = []
  answer = async ({ body }) => `"${body}"`
  server = createServer({ keepAliveTimeout: 30_000 }, async (request, reply) => {
    let body = ''
    for await (const part of request) body += part
    reply.writeHead(200, { 'content-length': Buffer.byteLength(body) + 1 })
    reply.end(`=${body}`)
  })
  lane = new QuickLane(server, { line: LINE, answer: request => answer(request), now: Date.now })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  for (const socket of open) socket.destroy()
  lane.close()
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
})

const dialed = async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
  open.push(socket)
  await once(socket, 'connect')
  return socket
}

function posted(body: string, more = ''): string {
  const length = `content-length: ${Buffer.byteLength(body)}`
  return `${LINE}\r\nhost: x\r\nauthorization: Bearer t\r\ncontent-type: application/json\r\n${more}${length}\r\n\r\n${body}`
}

/** An answer that is given when the test says so. */
function later() {
  let give = (_: string) => {}
  let refuse = (_: Error) => {}
  const promise = new Promise<string>((resolve, reject) => {
    give = resolve
    refuse = reject
  })
  return { promise, give, refuse }
}

/** The bodies of so many answers, in their order. */
async function bodies(socket: Socket, count: number): Promise<string[]> {
  const found: string[] = []
  let parts: Buffer[] = []
  let missing = 0
  while (found.length < count) {
    const [part] = await once(socket, 'data')
    parts.push(Buffer.from(part))
    missing -= Buffer.byteLength(part)
    if (missing > 0) continue
    let rest = Buffer.concat(parts)
    for (missing = 0; rest.length > 0 && missing <= 0; ) {
      const from = rest.indexOf('\r\n\r\n') + 4
      const length = Number(/content-length: (\d+)/i.exec(rest.toString('latin1', 0, from))?.[1])
      missing = from + length - rest.length
      if (missing > 0) break
      found.push(rest.toString('utf8', from, from + length))
      rest = rest.subarray(from + length)
    }
    parts = [rest]
  }
  return found
}

it('a usual request is answered at once, and the next one on the same connection', async () => {
  const socket = await dialed()
  socket.write(posted('"größer"'))
  const [text] = await once(socket, 'data')
  const [head = '', body] = text.split('\r\n\r\n')
  expect(head.split('\r\n')[0]).toBe('HTTP/1.1 201 Created')
  expect(
    Object.fromEntries(
      head
        .split('\r\n')
        .slice(1)
        .map((line: string) => line.split(/: (.*)/, 2)),
    ),
  ).toEqual({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    Date: expect.stringMatching(/ GMT$/),
    'Keep-Alive': 'timeout=30',
  })
  expect(body).toBe('""größer""')
  socket.write(posted('2'))
  expect(await bodies(socket, 1)).toEqual(['"2"'])
})

it('with an unusual request the connection goes to the server and stays there', async () => {
  const socket = await dialed()
  socket.write(posted('1'))
  expect(await bodies(socket, 1)).toEqual(['"1"'])
  socket.write(posted('2', 'x-else: 1\r\n'))
  expect(await bodies(socket, 1)).toEqual(['=2'])
  socket.write(posted('3'))
  expect(await bodies(socket, 1)).toEqual(['=3'])
})

it('a request that comes in pieces goes to the server whole', async () => {
  const socket = await dialed()
  const text = posted('{"a":1}')
  const taken = once(server, 'request')
  socket.write(text.slice(0, -3))
  await taken
  socket.write(text.slice(-3))
  expect(await bodies(socket, 1)).toEqual(['={"a":1}'])
})

it.each<[string, QuickAnswer]>([
  ['at once', () => null],
  ['later', () => Promise.reject(new Error('refused'))],
])('a request that is refused %s is answered by the server, with what came behind it', async (_, refuse) => {
  answer = refuse
  const socket = await dialed()
  socket.write(posted('1'))
  socket.write(posted('2'))
  expect(await bodies(socket, 2)).toEqual(['=1', '=2'])
})

it('several requests in one piece are answered in their order', async () => {
  const socket = await dialed()
  socket.write(posted('1') + posted('2') + posted('3'))
  expect(await bodies(socket, 3)).toEqual(['=1', '=2', '=3'])
})

it('what comes while a request is being answered waits for its turn', async () => {
  const first = later()
  const asked: string[] = []
  answer = ({ body }) => {
    asked.push(body)
    return body === '1' ? first.promise : Promise.resolve(body)
  }
  const socket = await dialed()
  socket.write(posted('1'))
  await expect.poll(() => asked).toEqual(['1'])
  socket.write(posted('2'))
  const other = await dialed()
  other.write(posted('3'))
  expect(await bodies(other, 1)).toEqual(['3'])
  expect(asked).toEqual(['1', '3'])
  first.give('first')
  expect(await bodies(socket, 2)).toEqual(['first', '2'])
})

it('who does not read answers is not asked for more', async () => {
  let asked = 0
  answer = async () => {
    asked += 1
    return LARGE
  }
  const socket = (await dialed()).pause()
  socket.write(posted('1'))
  await expect.poll(() => asked).toBe(1)
  socket.write(posted('2'))
  const other = await dialed()
  other.write(posted('x'))
  expect((await bodies(other, 1))[0]).toHaveLength(LARGE.length)
  expect(asked).toBe(2)
  const all = bodies(socket, 2)
  socket.resume()
  expect((await all).map(body => body.length)).toEqual([LARGE.length, LARGE.length])
})

it('who sends no more still gets the answer, then the connection ends', async () => {
  const socket = await dialed()
  socket.end(posted('1'))
  expect(await bodies(socket, 1)).toEqual(['"1"'])
  await once(socket, 'close')
})

it('one who hangs up meanwhile leaves nothing behind', async () => {
  const answers = [later(), later()]
  let asked = 0
  answer = () => {
    asked += 1
    return answers[asked - 1]?.promise ?? null
  }
  for (const times of [1, 2]) {
    const socket = await dialed()
    socket.write(posted('1'))
    await expect.poll(() => asked).toBe(times)
    socket.resetAndDestroy()
    await once(socket, 'close')
  }
  answers[0]?.give('late')
  answers[1]?.refuse(new Error('late'))
  await expect.poll(() => new Promise(told => server.getConnections((_, count) => told(count)))).toBe(0)
})

it('closing ends idle connections at once and others with their answer', async () => {
  const first = later()
  let asked = 0
  answer = () => {
    asked += 1
    return first.promise
  }
  const [idle, busy] = [await dialed(), await dialed()]
  busy.write(posted('1'))
  await expect.poll(() => asked).toBe(1)
  lane.close()
  await once(idle.resume(), 'close')
  first.give('done')
  expect(await bodies(busy, 1)).toEqual(['done'])
  await once(busy, 'close')
  const late = await dialed()
  late.write(posted('2'))
  expect(await bodies(late, 1)).toEqual(['=2'])
})

it('a connection that says nothing is cut', async () => {
  server.headersTimeout = 50
  server.keepAliveTimeout = 80
  const mute = await dialed()
  await once(mute.resume(), 'close')
  const socket = await dialed()
  socket.write(posted('1'))
  expect(await bodies(socket, 1)).toEqual(['"1"'])
  await once(socket.resume(), 'close')
})
