import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestHub, type TestHub } from '../../api/test-hub.ts'
import { TestWorker } from '../../api/test-worker.ts'
import { JobWatch } from '../../serving/job-watch.ts'
import type { TaskEvent } from './line-events.ts'
import { taskEvents } from './task-events.ts'
import { taskStream } from './task-stream.ts'

let hub: TestHub
let worker: TestWorker
beforeEach(async () => {
  hub = await openTestHub()
  worker = await TestWorker.join(hub)
})
afterEach(() => hub.close())

async function submitted(spec: object = {}): Promise<string> {
  const body = { command: 'talk', labels: { dialect: 'gpu-service' }, ...spec }
  return (await hub.call('POST', '/api/v1/jobs', { body })).json.jobs[0].id
}

function ports() {
  return {
    queries: hub.store.queries,
    streams: hub.streams,
    watch: new JobWatch({ engine: hub.engine, board: hub.board }),
    deviceId: () => 7,
    sessionGpu: async () => null,
    now: Date.now,
    ahead: async () => 0,
  }
}

async function rowOf(id: string) {
  const row = await hub.store.queries.jobById(id)
  if (row === null) throw new Error(`no job ${id}`)
  return row
}

/** All events, live or from the store. */
async function told(id: string): Promise<readonly TaskEvent[]> {
  const events: TaskEvent[] = []
  for await (const news of taskEvents(ports(), await rowOf(id), new AbortController().signal))
    if (news.kind === 'events') events.push(...news.events)
  return events
}

async function streamed(id: string, after: number): Promise<string> {
  let text = ''
  for await (const part of taskStream(ports(), await rowOf(id), after, new AbortController().signal)) text += part
  return text
}

const words = (events: readonly TaskEvent[]) => events.map(({ event, data }) => `${event} ${data.log ?? data.status}`)

it('tells the start of a program before its output, however they come in, and the same in every replay', async () => {
  const id = await submitted()
  const live = told(id)
  const fence = await worker.placed(id)
  await worker.output(fence, 'stdout', 'one\ntw')
  await worker.output(fence, 'stderr', 'aside\n')
  await worker.running(fence)
  await worker.output(fence, 'stdout', 'o\n')
  await worker.ended(fence)
  const events = await live
  expect(words(events)).toEqual([
    'connection allocated',
    'worker created',
    'logs one',
    'logs aside',
    'logs two',
    'task_finish completed',
  ])
  expect(await told(id)).toEqual(events)
})

it('goes on counting through a second attempt, which says what became of the first', async () => {
  const id = await submitted()
  const live = streamed(id, 0)
  const first = await worker.placed(id)
  await worker.running(first)
  await worker.output(first, 'stdout', 'first\n')
  await worker.ended(first, { outcome: 'lost', exitCode: null, error: 'its keeper vanished' })
  const second = await worker.placed(id)
  await worker.output(second, 'stdout', 'second')
  await worker.ended(second, { startedAt: Date.now() })
  const text = await live
  expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, n]) => Number(n))).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(text).toContain('"message":"attempt 2, the one before lost: its keeper vanished"')
  expect(await streamed(id, 0)).toBe(text)
  const cut = text.indexOf('id: 4\n\n') + 'id: 4\n\n'.length
  expect(await streamed(id, 4)).toBe(text.slice(cut))
  expect(await streamed(id, 7)).toBe('')
})

it('says what went wrong with a program that never started, and finishes once', async () => {
  const id = await submitted()
  const fence = await worker.placed(id)
  await worker.ended(fence, { outcome: 'failed', exitCode: null, error: 'no such image' })
  expect(await told(id)).toEqual([
    { event: 'connection', data: { status: 'allocated', task_id: id } },
    { event: 'worker', data: { status: 'error', error: 'no such image' } },
    { event: 'task_finish', data: { status: 'failed', elapsed_seconds: 0, error: 'no such image' } },
  ])
})

it('finishes a task that was cancelled before it had a place', async () => {
  const id = await submitted({ resources: { gpus: 64 } })
  await hub.call('POST', `/api/v1/jobs/${id}/cancel`)
  const [finish, ...more] = await told(id)
  expect(finish).toMatchObject({ event: 'task_finish', data: { status: 'cancelled' } })
  expect(more).toEqual([])
})

it('writes each event as name, data on one line and number', async () => {
  const id = await submitted()
  const fence = await worker.placed(id)
  await worker.running(fence)
  await worker.output(fence, 'stdout', '{"type":"text_delta","data":{"delta":"a\\nb"}}\n')
  await worker.ended(fence)
  expect(await streamed(id, 2)).toBe(
    'event: text_delta\ndata: {"delta":"a\\nb"}\nid: 3\n\n' +
      'event: task_finish\ndata: {"status":"completed","elapsed_seconds":0}\nid: 4\n\n',
  )
})
