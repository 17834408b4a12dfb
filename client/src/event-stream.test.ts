import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Client, createClient } from './client.ts'
import { HubUnreachable } from './errors.ts'
import type { JobEvent } from './job-events.ts'
import { aJob, asJob, openStream, refuse, sse, startTestHub, TEST_TOKEN } from './test-hub.ts'

let hub: Awaited<ReturnType<typeof startTestHub>>
let client: Client
const job = aJob({ state: 'active' })
const ended = asJob({ ...job, state: 'succeeded', exitCode: 0 })

beforeEach(async () => {
  hub = await startTestHub()
  client = createClient({ url: hub.url, token: TEST_TOKEN })
})
afterEach(async () => {
  client.close()
  await hub.close()
})

const LINES = ['eins', 'zwei — drei', '', '{"json":"🚂"}', 'five']
const WHOLE = LINES.map((log, i) => sse('logs', { attempt: 1, stream: 'stdout', log }, `1.${i + 1}.0`))

/** Serves what lies behind the last id, but only `bytes` of it on the first connection. */
function serveCut(response: ServerResponse, lastId: string | undefined, bytes: number): void {
  const from = lastId === undefined ? 0 : Number(lastId.split('.')[1])
  const rest = Buffer.from(sse('job', asJob(job)) + WHOLE.slice(from).join('') + sse('end', ended))
  openStream(response)
  if (bytes >= rest.length) response.end(rest)
  else response.write(rest.subarray(0, bytes), () => response.destroy())
}

test('a stream cut at any byte continues behind its last event, without gap or repeat', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 1500 }), async bytes => {
      let connections = 0
      hub.on('GET /api/v1/jobs/:id/events', (request, response) => {
        connections += 1
        serveCut(response, request.headers['last-event-id'] as string | undefined, connections === 1 ? bytes : 1e9)
      })
      const events = await all(client.events(job.id))
      expect(events.flatMap(e => (e.event === 'logs' ? [e.data.log] : []))).toEqual(LINES)
      expect(events.at(-1)).toMatchObject({ event: 'end', job: { state: 'succeeded' } })
    }),
    { numRuns: 12 },
  )
})

test('following starts behind a given id and tells when the connection was lost', async () => {
  let connections = 0
  hub.on('GET /api/v1/jobs/:id/events', (request, response) => {
    connections += 1
    serveCut(response, request.headers['last-event-id'] as string | undefined, connections === 1 ? 0 : 1e9)
  })
  const losses: unknown[] = []
  const events = await all(client.events(job.id, { lastEventId: '1.3.0', onLost: error => losses.push(error) }))
  expect(events.flatMap(e => (e.event === 'logs' ? [e.data.log] : []))).toEqual(LINES.slice(3))
  expect(losses).toHaveLength(1)
  expect(losses[0]).toBeInstanceOf(HubUnreachable)
})

test('a job that does not exist is refused, not tried again', async () => {
  hub.on('GET /api/v1/jobs/:id/events', (_, response) => refuse(response, 'job.not_found', 'no job x'))
  await expect(all(client.events('x'))).rejects.toMatchObject({ problem: { code: 'job.not_found' } })
  expect(hub.seen).toHaveLength(1)
})

test('leaving the loop closes the connection', async () => {
  const gone = new Promise<void>(resolve => {
    hub.on('GET /api/v1/jobs/:id/events', (_, response) => {
      openStream(response)
      response.write(sse('job', asJob(job)))
      response.on('close', resolve)
    })
  })
  for await (const event of client.events(job.id)) {
    expect(event.event).toBe('job')
    break
  }
  await gone
})

test('an abort ends the wait at once with its reason', async () => {
  const stop = new AbortController()
  hub.on('GET /api/v1/jobs/:id/events', (_, response) => {
    openStream(response)
    response.write(sse('job', asJob(job)))
  })
  const following = all(client.events(job.id, { signal: stop.signal }), () => stop.abort(new Error('enough')))
  await expect(following).rejects.toThrow('enough')
})

test('a feed that has only heard pings continues behind the last of them', async () => {
  const asked: unknown[] = []
  hub.on('GET /api/v1/feed', (request, response) => {
    asked.push(request.headers['last-event-id'])
    openStream(response)
    if (asked.length === 1) response.write(': ping\nid: 40\n\n', () => response.destroy())
    else response.write(sse('change', { n: 41, at: 5, changes: [] }, '41'))
  })
  for await (const entry of client.feed()) {
    expect(entry.n).toBe(41)
    break
  }
  expect(asked).toEqual([undefined, '40'])
})

test('the feed continues behind its cursor over a broken connection and names of events it does not know are passed over', async () => {
  hub.on('GET /api/v1/feed', (request, response) => {
    const after = Number(request.headers['last-event-id'])
    openStream(response)
    response.write(sse('later', { odd: true }))
    response.write(
      sse('change', { n: after + 1, at: 5, changes: [{ c: 'due', job: 1, at: 5 }] }, String(after + 1)),
      () => response.destroy(),
    )
  })
  const seen: number[] = []
  for await (const entry of client.feed({ after: 7 })) {
    seen.push(entry.n)
    if (seen.length === 3) break
  }
  expect(seen).toEqual([8, 9, 10])
})

async function all(events: AsyncIterable<JobEvent>, onFirst = () => {}): Promise<JobEvent[]> {
  const list: JobEvent[] = []
  for await (const event of events) {
    if (list.push(event) === 1) onFirst()
  }
  return list
}
