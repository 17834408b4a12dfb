import type { Socket } from 'node:net'
import type { Fence } from '@stoker/protocol'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hear, setConnected } from '../engine/liveness.ts'
import { allEvents, readEvents, type SeenEvent, until } from './test-events.ts'
import { openTestHub, type TestHub } from './test-hub.ts'
import { TestWorker } from './test-worker.ts'

let hub: TestHub
let worker: TestWorker
beforeEach(async () => {
  hub = await openTestHub()
  worker = await TestWorker.join(hub)
})
afterEach(async () => {
  await until(() => hub.watching().outputs === 0 && hub.watching().commits === 0)
  await hub.close()
})

async function submit(spec: object = { type: 'noop' }): Promise<{ id: string; path: string }> {
  const { json } = await hub.call('POST', '/api/v1/jobs', { body: spec })
  const { id } = json.jobs[0]
  return { id, path: `/api/v1/jobs/${id}/events` }
}

function lines(events: readonly SeenEvent[]): SeenEvent[] {
  return events.filter(({ event }) => event !== 'job' && event !== 'end')
}

/** Events up to the first that fits, and the rest still to come. */
async function take(events: AsyncGenerator<SeenEvent, void>, fits: (seen: SeenEvent) => boolean): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = []
  for (let next = await events.next(); !next.done; next = await events.next()) {
    seen.push(next.value)
    if (fits(next.value)) return seen
  }
  throw new Error(`the stream ended after ${seen.length} events`)
}

test('a follower sees the job, every change of it, each line as it comes, and the end', async () => {
  const { id, path } = await submit()
  const fence = await worker.placed(id)
  const events = readEvents(hub, path)
  expect((await take(events, () => true))[0]).toMatchObject({ event: 'job', id: null, data: { id, state: 'active' } })
  await worker.running(fence)
  await take(events, ({ event }) => event === 'job')
  await worker.output(fence, 'stdout', '{"type":"progress","percent":5,"attempt":99}\nhello ')
  const [progress] = await take(events, ({ event }) => event === 'progress')
  expect(progress).toMatchObject({ id: '1.45.0', data: { percent: 5, attempt: 1, stream: 'stdout' } })
  await worker.output(fence, 'stderr', 'WARNING: hm\n\n')
  await worker.output(fence, 'stdout', 'wörld\r\n')
  const logs = await take(events, ({ data }) => data.log === 'hello wörld')
  expect(logs.map(({ id: at, data }) => [at, data.log, data.level])).toEqual([
    ['1.45.12', 'WARNING: hm', 'warning'],
    ['1.45.13', '', 'info'],
    ['1.59.13', 'hello wörld', 'info'],
  ])
  await worker.output(fence, 'stdout', 'no newline')
  await worker.ended(fence, { exitCode: 3, outcome: 'failed', error: 'exited with code 3' })
  const rest = await take(events, ({ event }) => event === 'end')
  expect(rest.map(({ event }) => event)).toEqual(['logs', 'end'])
  expect(rest[0]).toMatchObject({ id: '1.69.13', data: { log: 'no newline' } })
  expect(rest[1]?.data).toMatchObject({ state: 'failed', exitCode: 3, reason: 'exited with code 3' })
  expect(await events.next()).toEqual({ done: true, value: undefined })
})

test('wherever a burst of lines is cut, resuming gives exactly the rest', async () => {
  const piece = fc.record({
    stream: fc.constantFrom('stdout' as const, 'stderr' as const),
    text: fc
      .array(fc.constantFrom('a', 'ß', '🚂', '\n', '\n', '\r\n', '{"type":"text","data":{"text":"x"}}\n', ' '), {
        maxLength: 12,
      })
      .map(p => p.join('')),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.nat(), fc.nat(), async (pieces, cut, endAfter) => {
      const { id, path } = await submit()
      const fence = await worker.placed(id)
      const live = readEvents(hub, path)
      const seenLive: SeenEvent[] = []
      const watching = (async () => {
        for await (const event of live) seenLive.push(event)
      })()
      for (const { stream, text } of pieces) if (text !== '') await worker.output(fence, stream, text)
      const early = await hub.call('GET', `/api/v1/jobs/${id}`)
      expect(early.json.state).toBe('active')
      await worker.ended(fence)
      await watching
      const all = lines(seenLive)
      expect(lines(await allEvents(hub, path))).toEqual(all)
      if (all.length === 0) return
      for (const at of [cut % all.length, endAfter % all.length]) {
        const resumed = await allEvents(hub, path, { lastId: all[at]?.id ?? '' })
        expect(lines(resumed)).toEqual(all.slice(at + 1))
        expect(resumed.at(-1)?.event).toBe('end')
      }
    }),
    { numRuns: 40 },
  )
})

test('a follower who comes back while the program talks misses and repeats nothing', async () => {
  const { id, path } = await submit()
  const fence = await worker.placed(id)
  const talking = (async () => {
    for (let i = 0; i < 300; i += 1)
      await worker.output(fence, i % 3 === 0 ? 'stderr' : 'stdout', `line ${i}\nha`.slice(0, i % 5 === 0 ? 20 : -2))
    await worker.ended(fence)
  })()
  const seen: SeenEvent[] = []
  while (seen.at(-1)?.event !== 'end') {
    const leave = new AbortController()
    const lastId = seen.at(-1)?.id ?? undefined
    let n = 0
    for await (const event of readEvents(hub, path, { lastId, signal: leave.signal })) {
      if (event.event === 'job') continue
      seen.push(event)
      n += 1
      if (n === 17) break
    }
    leave.abort()
  }
  await talking
  expect(lines(seen)).toEqual(lines(await allEvents(hub, path)))
  expect(lines(seen)).toHaveLength(300)
})

test('all attempts are followed in order, also from the middle of an earlier one', async () => {
  const { id, path } = await submit({ type: 'noop', retries: { max: 1, backoff: { initial: 0.001, max: 0.001 } } })
  const first = await worker.placed(id)
  const events = readEvents(hub, path)
  await take(events, ({ event }) => event === 'job')
  await worker.output(first, 'stdout', 'one\ntwo\nthree')
  await worker.ended(first, { outcome: 'failed', exitCode: 1, error: 'no' })
  await take(events, ({ data }) => data.state === 'waiting' || data.state === 'queued')
  do await hub.engine.execute({ kind: 'tick' })
  while (await hub.engine.read(state => state.waiting.size > 0))
  const second = await worker.placed(id)
  expect(second.attempt).toBe(2)
  await worker.output(second, 'stderr', 'four\n')
  await worker.ended(second)
  const rest = await take(events, ({ event }) => event === 'end')
  const texts = (seen: readonly SeenEvent[]) => lines(seen).map(({ data }) => `${data.attempt} ${data.log}`)
  expect(texts(rest).at(-1)).toBe('2 four')
  await events.return()
  expect(texts(await allEvents(hub, path))).toEqual(['1 one', '1 two', '1 three', '2 four'])
  expect(texts(await allEvents(hub, path, { lastId: '1.4.0' }))).toEqual(['1 two', '1 three', '2 four'])
  expect(texts(await allEvents(hub, path, { lastId: '1.13.0' }))).toEqual(['2 four'])
})

test('a lost attempt is followed on when it comes back, and left when another takes its place', async () => {
  const { id, path } = await submit()
  const first = await worker.placed(id)
  await worker.running(first)
  const events = readEvents(hub, path)
  await take(events, ({ event }) => event === 'job')
  await worker.output(first, 'stdout', 'be')
  hub.engine.touch(state => setConnected(state, worker.id, false))
  await hub.call('POST', `/api/v1/workers/${worker.id}/drain`)
  await lose(first)
  await take(events, ({ data }) => data.state === 'queued' && data.lost === 1)
  await worker.output(first, 'stdout', 'fore\n')
  await worker.running(first)
  const back = await take(events, ({ event }) => event === 'logs')
  expect(back.at(-1)).toMatchObject({ id: '1.7.0', data: { log: 'before' } })
  await worker.output(first, 'stdout', 'cut o')
  await lose(first)
  await hub.call('POST', `/api/v1/workers/${worker.id}/resume`)
  hub.engine.touch(state => setConnected(state, worker.id, true))
  hub.engine.replan()
  const second = await worker.placed(id)
  expect(second.attempt).toBe(2)
  await worker.output(second, 'stdout', 'again\n')
  await worker.ended(second)
  const rest = lines(await take(events, ({ event }) => event === 'end'))
  expect(rest.map(({ data }) => [data.attempt, data.log])).toEqual([
    [1, 'cut o'],
    [2, 'again'],
  ])
  expect(lines(await allEvents(hub, path)).map(({ data }) => data.log)).toEqual(['before', 'cut o', 'again'])
})

/** The lease of the attempt runs out, as after a long silence of its worker. */
async function lose(fence: Fence): Promise<void> {
  hub.engine.touch(state => {
    const holder = state.workers.get(worker.id)
    if (holder !== undefined) holder.heardAt -= 3600_000
  })
  await hub.engine.execute({ kind: 'tick' })
  hub.engine.touch((state, now) => hear(state, worker.id, now))
  expect(await hub.engine.read(state => state.active.has(fence.job))).toBe(false)
}

test('without output only the job and its end come', async () => {
  const { id, path } = await submit()
  const fence = await worker.placed(id)
  await worker.output(fence, 'stdout', 'much\n')
  await worker.ended(fence)
  const seen = await allEvents(hub, `${path}?output=false`)
  expect(seen.map(({ event }) => event)).toEqual(['end'])
  expect((await hub.call('GET', `${path}?output=no`)).status).toBe(400)
})

test('an id that no event had is refused', async () => {
  const { path } = await submit()
  for (const id of ['x', '1', '1.2', '0.0.0', '1.-1.0', '1.0.0.0', '2.0.0', '1e3.0.0', '1.99999999999999999999.0']) {
    const { json } = await hub.call('GET', path, { headers: { 'last-event-id': id } })
    expect(json, id).toMatchObject({ status: 400, code: 'request.invalid' })
  }
})

test('live progress refreshes the job at most once a second', async () => {
  const { id, path } = await submit()
  const fence = await worker.placed(id)
  const events = readEvents(hub, path)
  await take(events, ({ event }) => event === 'job')
  const put = (percent: number) =>
    hub.board.put(worker.id, {
      t: 'live',
      at: Date.now(),
      host: null,
      gpus: [],
      attempts: [{ fence, progress: { percent, operation: null, metrics: {} }, cpus: null, memoryBytes: null }],
    })
  const begun = performance.now()
  put(1)
  await take(events, ({ data }) => data.progress?.percent === 1)
  for (let percent = 2; percent <= 50; percent += 1) put(percent)
  const seen = await take(events, ({ data }) => data.progress?.percent === 50)
  expect(seen).toHaveLength(1)
  expect(performance.now() - begun).toBeGreaterThan(900)
  put(50)
  await worker.ended(fence)
  await take(events, ({ event }) => event === 'end')
})

test('a viewer who does not read holds little memory and still gets everything', async () => {
  const { id, path } = await submit()
  const fence = await worker.placed(id)
  const sockets = new Set<Socket>()
  hub.api.server.on('connection', socket => sockets.add(socket))
  const reply = await fetch(hub.url + path, { headers: { authorization: `Bearer ${hub.admin}` } })
  const reader = reply.body?.getReader()
  if (reader === undefined) throw new Error('no body')
  const line = `${'x'.repeat(65_535)}\n`
  const total = 400
  for (let i = 0; i < total; i += 1) await worker.output(fence, 'stdout', line)
  await worker.ended(fence)
  const heldBytes = [...sockets].reduce((sum, { writableLength }) => sum + writableLength, 0)
  expect(heldBytes).toBeLessThan(2 * 1024 * 1024)
  let text = 0
  let tail = ''
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += next.value.length
    tail = (tail + Buffer.from(next.value).toString()).slice(-2000)
  }
  expect(text).toBeGreaterThan(total * 65_535)
  expect(tail).toMatch(/event: end\ndata: .*\n\n$/)
})

test('whoever leaves is let go of, and closing the hub ends those who stay', async () => {
  const { id, path } = await submit()
  await worker.placed(id)
  const leave = new AbortController()
  const gone = Array.from({ length: 20 }, () => readEvents(hub, path, { signal: leave.signal }))
  const stays = readEvents(hub, path)
  await Promise.all([...gone, stays].map(events => take(events, ({ event }) => event === 'job')))
  await until(() => hub.watching().outputs === 21)
  expect(hub.watching().commits).toBe(1)
  leave.abort()
  await until(() => hub.watching().outputs === 1)
  expect((await hub.call('GET', '/metrics')).text).toMatch(/stoker_open_streams 1/)
  const closing = hub.close()
  expect(await stays.next()).toEqual({ done: true, value: undefined })
  await closing
  expect(hub.watching()).toEqual({ outputs: 0, commits: 0 })
  hub = await openTestHub()
})
