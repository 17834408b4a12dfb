import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { encodeFrame, PROTOCOL } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { ChildProgram } from './harness/child-program.ts'
import { givenSeed } from './harness/config.ts'
import { Garbage, withOddNumbers } from './harness/garbage.ts'
import { House } from './harness/house.ts'
import { becomes, ended, logOf, run } from './harness/jobs.ts'
import { callWithNonsense, documentedCalls } from './harness/openapi-calls.ts'
import { residentBytes } from './harness/processes.ts'
import { counted, counting, marksOf, openGate } from './harness/programs.ts'
import { printedSeed, seeded } from './harness/seeded.ts'

const BOUND_BYTES = 300 * 1024 * 1024
const NATIVE = '/api/v1/native'

let house: House
let hub: ChildProgram
let garbage: Garbage

beforeEach(async () => {
  garbage = new Garbage(seeded(printedSeed(givenSeed)))
  house = await House.open()
  hub = await house.startHub()
})

afterEach(async () => {
  await house.close()
})

async function expectHealthy(): Promise<void> {
  expect(hub.isOver).toBe(false)
  expect(hub.stderr).not.toContain('cannot go on')
  expect((await house.client.health()).status).toBe('ok')
  expect(await run(house.client, { type: 'echo', input: { a: 1 } })).toMatchObject({ state: 'succeeded' })
  expect(await residentBytes(hub.pid)).toBeLessThan(BOUND_BYTES)
}

/** Says something without the manners of HTTP and answers what came back before the hub hung up. */
async function sayRaw(bytes: Buffer | string, hangUp: boolean): Promise<string> {
  const socket = connect(house.port, '127.0.0.1')
  let heard = ''
  socket.setEncoding('latin1').on('data', text => {
    heard += text
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  // A torn connection is an end too: the hub need not be polite.
  const ended = new Promise(resolve => socket.on('close', resolve))
  socket.write(bytes)
  if (hangUp) socket.destroy()
  else socket.end()
  await ended
  return heard
}

/** The code of the end, which may be a torn connection: the hub need not be polite. */
function closed(socket: WebSocket): Promise<number> {
  socket.on('error', () => {})
  return new Promise(resolve => socket.on('close', code => resolve(code)))
}

it('answers bytes that are no HTTP with 4xx or by hanging up', async () => {
  await house.startWorker('w')
  const upgrade = `GET ${NATIVE} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`
  const said = [
    ...Array.from({ length: 100 }, () => garbage.bytes(2000)),
    'GET / HTTP/9.9\r\n\r\n',
    `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
    'POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz',
    'POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    `${upgrade}\r\n`,
    `${upgrade}Authorization: Bearer ${'a'.repeat(43)}\r\nSec-WebSocket-Version: 99\r\nSec-WebSocket-Key: ?\r\n\r\n`,
    upgrade,
  ]
  for (const bytes of said) {
    expect(await sayRaw(bytes, false)).not.toMatch(/^HTTP\/1\.1 [25]/)
    await sayRaw(bytes, true)
  }
  await expectHealthy()
})

it('never answers 500, whatever is asked of any documented route', async () => {
  await house.startWorker('w')
  const token = (await readFile(house.path('hub', 'admin-token'), 'utf8')).trim()
  const calls = documentedCalls(await house.client.openapi())
  expect(calls.length).toBeGreaterThan(15)
  const seen = new Set<number>()
  for (let round = 0; round < 60; round += 1) {
    const replies = await Promise.all(
      calls.map(async call => ({ ...call, status: await callWithNonsense(house.url, token, call, garbage) })),
    )
    expect(replies.filter(({ status }) => status >= 500 || status < 200)).toEqual([])
    for (const { status } of replies) seen.add(status)
  }
  for (const status of [200, 400, 401, 404, 415]) expect(seen).toContain(status)
  const tooLarge = Buffer.alloc(40 * 1024 * 1024, 'x')
  const reply = await fetch(`${house.url}/api/v1/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: tooLarge,
  }).catch(() => null)
  expect([413, undefined]).toContain(reply?.status)
  await expectHealthy()
})

/** What a worker says in good order, and the words that open the door for it. */
async function aVisitor() {
  await house.startWorker('w')
  const { hardware, abilities } = await house.client.worker('w')
  const { secret: join } = await house.client.createToken({ role: 'join' })
  const headers = { authorization: `Bearer stw_${'g'.repeat(43)}`, 'x-stoker-join': join }
  const hello = {
    ...{ t: 'hello', protocol: PROTOCOL, version: '0', workerId: 'garbage', bootId: 'b', name: 'garbage', tags: [] },
    ...{ maxJobs: 0, cpus: 0, memoryBytes: 0, window: 1, hardware, abilities, epochSeen: 0, nextBatch: 1 },
    ...{ holding: [], draining: true },
  }
  const fence = { job: 1, epoch: 1, attempt: 1 }
  const ending = { startedAt: null, exitCode: 0, signal: null, error: null, note: null, result: null, usage: null }
  const report = {
    t: 'report',
    n: 1,
    reports: [{ kind: 'ended', fence, at: 0, outcome: 'completed', ...ending }],
    chunks: [{ fence, stream: 'stdout', offset: 0, length: 3, at: 0 }],
  }
  const visit = async () => {
    const socket = new WebSocket(`${house.url.replace('http', 'ws')}${NATIVE}`, { headers })
    await once(socket, 'open')
    return { socket, over: closed(socket) }
  }
  return { hello, report, visit }
}

it('outlives workers that talk nonsense before and after a proper hello', async () => {
  const { hello, report, visit } = await aVisitor()
  const known: readonly [unknown, ...unknown[]] = [hello, report, { t: 'beat' }, { t: 'goodbye', reason: 'x' }]
  const nonsense: readonly (() => { data: string | Buffer; binary: boolean })[] = [
    () => ({ data: garbage.bytes(500), binary: true }),
    () => ({ data: garbage.bytes(500), binary: false }),
    () => ({ data: JSON.stringify(garbage.value(4)), binary: false }),
    () => ({ data: JSON.stringify(garbage.pick(known)), binary: false }),
    () => ({ data: JSON.stringify(garbage.spoil(garbage.pick(known))), binary: false }),
    () => ({
      data: Buffer.from(encodeFrame(JSON.stringify(garbage.spoil(report)), [garbage.bytes(10)])),
      binary: true,
    }),
    () => ({ data: Buffer.from(encodeFrame(JSON.stringify(report), [Buffer.from('abc')])), binary: true }),
  ]
  for (let visits = 0; visits < 250; visits += 1) {
    const { socket, over } = await visit()
    if (visits % 2 === 0) socket.send(JSON.stringify(hello))
    for (let words = 1 + garbage.below(4); words > 0; words -= 1) {
      const { data, binary } = (nonsense[garbage.below(nonsense.length)] ?? nonsense[0])?.() ?? {
        data: '',
        binary: false,
      }
      socket.send(data, { binary })
    }
    socket.close()
    await over
  }
  const { socket: large, over } = await visit()
  large.send(Buffer.alloc(20 * 1024 * 1024))
  expect([1006, 1009]).toContain(await over)
  expect((await house.client.workers()).map(({ name }) => name)).toContain('garbage')
  await expectHealthy()
})

it('outlives every number of a hello and a report that is none', async () => {
  const { hello, report, visit } = await aVisitor()
  const spoilt = [
    ...withOddNumbers(hello).map(odd => [odd]),
    ...withOddNumbers(report).map(odd => [hello, Buffer.from(encodeFrame(JSON.stringify(odd), [Buffer.from('abc')]))]),
  ]
  expect(spoilt.length).toBeGreaterThan(100)
  for (const words of spoilt) {
    const { socket, over } = await visit()
    for (const said of words) socket.send(Buffer.isBuffer(said) ? said : JSON.stringify(said))
    socket.close()
    await over
  }
  await expectHealthy()
})

it('a worker whose hub talks nonsense keeps its programs, tries again, and goes on with the real one', async () => {
  const worker = await house.startWorker('w')
  const { id } = await house.client.submit(counting(house, { mark: 0, lines: 3, gate: 'after' }))
  await becomes(house.client, id, 'running')
  const { epoch } = await house.client.health()
  await hub.kill()
  const welcome = {
    ...{ t: 'welcome', protocol: PROTOCOL, version: '0', epoch, ackedBatch: 0, creditBytes: 1e6, beatMs: 3000 },
    ...{ liveMs: 10_000, stale: [], draining: false },
  }
  const manners: readonly ((socket: WebSocket) => void)[] = [
    socket => socket.send(garbage.bytes(500)),
    socket => socket.send(garbage.bytes(500), { binary: false }),
    socket => socket.send(JSON.stringify({ t: 'ack', n: 1e9 })),
    socket => socket.send(JSON.stringify({ ...welcome, epoch: 1 })),
    socket => {
      socket.send(JSON.stringify(welcome))
      socket.send(JSON.stringify({ t: 'offers', offers: [garbage.value(4)] }))
    },
    socket => socket.close(1011, 'x'.repeat(100)),
  ]
  let visits = 0
  const fake = new WebSocketServer({ port: house.port, host: '127.0.0.1' })
  fake.on('connection', socket => {
    socket.on('error', () => {})
    manners[visits % manners.length]?.(socket)
    visits += 1
  })
  await expect.poll(() => visits, { timeout: 40_000 }).toBeGreaterThan(manners.length)
  expect(worker.isOver).toBe(false)
  for (const socket of fake.clients) socket.terminate()
  fake.close()
  await once(fake, 'close')
  hub = await house.startHub()
  await openGate(house, 'after')
  expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', attempts: 1, lost: 0 })
  expect(await logOf(house.client, id)).toBe(counted(3))
  expect(await marksOf(house)).toEqual([0])
})
