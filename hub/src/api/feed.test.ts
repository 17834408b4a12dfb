import { afterEach, beforeEach, expect, test } from 'vitest'
import { readEvents, type SeenEvent, until } from './test-events.ts'
import { openTestHub, type TestHub } from './test-hub.ts'
import { TestWorker } from './test-worker.ts'

let hub: TestHub
let leave: AbortController
beforeEach(async () => {
  hub = await openTestHub()
  leave = new AbortController()
})
afterEach(async () => {
  leave.abort()
  await until(() => hub.watching().commits === 0)
  await hub.close()
})

interface SeenChange {
  readonly c: string
  readonly id?: string
  readonly jobs?: readonly { readonly id: string }[]
}

/** Reads the feed until a change fits. */
async function changesUntil(
  feed: AsyncGenerator<SeenEvent, void>,
  fits: (change: SeenChange) => boolean,
): Promise<SeenChange[]> {
  const seen: SeenChange[] = []
  for (let next = await feed.next(); !next.done; next = await feed.next()) {
    expect(next.value).toMatchObject({
      event: 'change',
      id: String(next.value.data.n),
      data: { at: expect.stringMatching(/^\d{4}-/) },
    })
    seen.push(...next.value.data.changes)
    if (seen.some(fits)) return seen
  }
  throw new Error('the feed ended')
}

async function submit(token: string): Promise<string> {
  return (
    await hub.call('POST', '/api/v1/jobs', { body: { type: 'noop' }, token, headers: { 'idempotency-key': 'k' } })
  ).json.jobs[0].id
}

test('everyone sees their own jobs and the workers; only the admin sees all, and nobody sees a hash', async () => {
  const mia = await hub.token('submit', 'mia')
  const otto = await hub.token('submit', 'otto')
  const mine = await submit(mia)
  const other = await submit(otto)
  const worker = await TestWorker.join(hub)
  const fence = await worker.placed(mine)
  await worker.running(fence)
  await worker.ended(fence)
  await worker.ended(await worker.placed(other))
  const ends = (id: string) => (change: SeenChange) => change.c === 'attemptEnded' && change.id === id
  const signal = leave.signal
  const forMia = await changesUntil(readEvents(hub, '/api/v1/feed?after=0', { token: mia, signal }), ends(mine))
  expect(forMia.map(({ c }) => c)).toEqual(['submitted', 'worker', 'placed', 'running', 'attemptEnded'])
  expect(forMia[0]?.jobs?.map(({ id }) => id)).toEqual([mine])
  expect(
    forMia.filter(({ c }) => ['placed', 'running', 'attemptEnded'].includes(c)).every(({ id }) => id === mine),
  ).toBe(true)
  const forAdmin = await changesUntil(readEvents(hub, '/api/v1/feed?after=0', { signal }), ends(other))
  expect(forAdmin.map(({ c }) => c)).toEqual(
    expect.arrayContaining(['epoch', 'token', 'bucket', 'submitted', 'worker', 'batch']),
  )
  expect(JSON.stringify(forAdmin)).not.toMatch(/hash/i)
})

test('without a cursor the feed begins now, with one it goes on behind it without gap', async () => {
  const first = await submit(hub.admin)
  const live = readEvents(hub, '/api/v1/feed', { signal: leave.signal })
  const pending = changesUntil(live, ({ c }) => c === 'ended')
  await until(() => hub.watching().commits === 1)
  await hub.call('POST', `/api/v1/jobs/${first}/cancel`)
  expect((await pending).map(({ c }) => c)).toEqual(['ended'])
  const rows = await hub.store.queries.journalAfter(0, 100)
  const seen: number[] = []
  for await (const { data } of readEvents(hub, '/api/v1/feed', { lastId: '1', signal: leave.signal })) {
    seen.push(data.n)
    if (data.n === rows.length) break
  }
  expect(seen).toEqual(rows.map(({ n }) => n).slice(1))
})

test('a cursor behind what is kept is gone, one ahead of the hub or no number is wrong', async () => {
  await submit(hub.admin)
  const end = await hub.engine.read(state => state.journal.n)
  const ask = async (path: string, headers = {}) => (await hub.call('GET', path, { headers })).json
  expect(await ask(`/api/v1/feed?after=${end + 1}`)).toMatchObject({ status: 400, code: 'request.invalid' })
  for (const after of ['x', '-1', '1.5', '1e3', '9'.repeat(30)])
    expect(await ask(`/api/v1/feed?after=${after}`), after).toMatchObject({ status: 400, code: 'request.invalid' })
  expect(await ask('/api/v1/feed?after=1', { 'last-event-id': 'x' })).toMatchObject({ status: 400 })
  await hub.store.prune({ keysBefore: 0, journalBefore: Date.now() + 1000 })
  const { n } = await hub.store.queries.journalBoundary()
  expect(n).toBeGreaterThan(0)
  expect(await ask(`/api/v1/feed?after=${n - 1}`)).toMatchObject({ status: 410, code: 'feed.gone' })
  const goesOn = readEvents(hub, `/api/v1/feed?after=${n}`, { signal: leave.signal })
  const pending = changesUntil(goesOn, ({ c }) => c === 'token')
  await hub.token('read', 'x')
  await pending
})
