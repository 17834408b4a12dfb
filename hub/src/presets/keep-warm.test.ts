import { uuidv7 } from 'uuidv7'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openTestHub, type TestHub } from '../api/test-hub.ts'
import { TestWorker } from '../api/test-worker.ts'
import { hearReady } from '../engine/sessions.ts'
import { KeepWarm, type KeepWarmPorts } from './keep-warm.ts'
import { FILE_NAMES, type FileTexts, loadPresets } from './load-presets.ts'
import type { PresetBook } from './preset.ts'
import { readSettings } from './settings.ts'

const settings = readSettings({})
const NO_FILES = Object.fromEntries(FILE_NAMES.map(name => [name, null])) as FileTexts
const abilities = {
  executors: ['inline' as const, 'process' as const, 'task' as const],
  sandbox: true,
  unsandboxed: true,
  internet: true,
  hostNetwork: true,
  note: null,
}

let book: PresetBook
let hub: TestHub
let worker: TestWorker
let warm: KeepWarm
let now = 1_000_000
let check: KeepWarmPorts['check']

const bookOf = (chat: string): PresetBook =>
  loadPresets(
    { ...NO_FILES, 'model_presets.yaml': `models: {m: {${chat}}}` },
    {},
    { folder: '/p', settings, home: '/h', check: spec => ({ spec }) },
  ).book
const chat = (session: string, command = 'serve') =>
  bookOf(`chat: {type: session, command: [${command}], session: {${session}}}`)
const open = () =>
  new KeepWarm(
    {
      engine: hub.engine,
      queries: hub.store.queries,
      settings,
      newId: uuidv7,
      now: () => now,
      log: () => {},
      diskGuard: () => null,
      check: spec => check(spec),
    },
    book,
  )
const take = (next: PresetBook) => {
  book = next
  warm.take(next)
}
const sessions = () =>
  hub.engine.read(state =>
    [...state.sessions.values()].map(one => ({
      seq: one.seq,
      id: one.id,
      owner: one.owner,
      by: one.endsBy,
      isOutdated: one.isOutdated,
      state: state.active.get(one.seq)?.state ?? 'queued',
    })),
  )
const states = async () => (await sessions()).map(one => one.state)
const submit = async () => (await hub.call('POST', '/api/v1/jobs', { body: { preset: 'm/chat' } })).json.jobs[0].id

/** A session of the preset that runs and is ready. */
async function comeUp(id: string): Promise<Awaited<ReturnType<TestWorker['placed']>>> {
  const fence = await worker.placed(id)
  await worker.running(fence)
  hub.engine.touch(state => hearReady(state, fence, true, Date.now()))
  return fence
}

beforeEach(async () => {
  now = 1_000_000
  check = spec => ({ spec })
  book = chat('max: 2')
  hub = await openTestHub({ presets: { current: async () => book, settings } })
  worker = await TestWorker.join(hub, { abilities })
  warm = open()
})
afterEach(async () => {
  await warm.close()
  await hub.close()
})

test('a task that waits starts a session, which answers it; looking again starts no other', async () => {
  const task = await submit()
  await vi.waitUntil(async () => (await sessions()).length === 1)
  await Promise.all([warm.look(), warm.look(), warm.tick()])
  const [session, ...others] = await sessions()
  expect(others).toEqual([])
  expect(session?.owner).toBe('presets')
  await comeUp(session?.id ?? '')
  expect(await worker.placed(task)).toMatchObject({ attempt: 1 })
  expect(warm.warmthOf('m/chat')).toEqual({ live: 1, lastError: null, nextStartAt: null })
})

test('more tasks start more sessions, up to the most', async () => {
  await Promise.all([submit(), submit(), submit(), submit()])
  await warm.look()
  expect(await sessions()).toHaveLength(2)
  expect(await hub.call('POST', '/api/v1/jobs', { body: { jobs: Array(9).fill({ preset: 'm/chat' }) } })).toMatchObject(
    {
      status: 503,
      json: { code: 'session.full' },
    },
  )
})

test('as many as shall always be there are there, also after another start of the hub, and once', async () => {
  take(chat('min: 2, max: 3'))
  await warm.look()
  expect(await sessions()).toHaveLength(2)
  await warm.close()
  warm = open()
  await warm.look()
  expect(await sessions()).toHaveLength(2)
  expect(warm.warmthOf('m/chat').live).toBe(2)
})

test('one that shall always be there is kept from idling out', async () => {
  take(chat('min: 1, idleTimeout: 30s'))
  await warm.look()
  const [session] = await sessions()
  await comeUp(session?.id ?? '')
  await hub.engine.execute({ kind: 'tick' })
  const isTouched = () => hub.engine.read(state => [...state.sessions.values()][0]?.isTouched)
  expect(await isTouched()).toBe(false)
  now += 10_000
  await warm.tick()
  expect(await isTouched()).toBe(true)
})

test('sessions that fail are not started over and over, and say why', async () => {
  take(chat('min: 1'))
  await warm.look()
  const [first] = await sessions()
  await worker.ended(await worker.placed(first?.id ?? ''), { outcome: 'failed', exitCode: 3, error: 'no such model' })
  await warm.look()
  expect(await sessions()).toEqual([])
  expect(warm.warmthOf('m/chat')).toEqual({
    live: 0,
    lastError: expect.stringContaining('no such model'),
    nextStartAt: now + 5000,
  })
  now += 5000
  await warm.tick()
  const [second] = await sessions()
  expect(second).toBeDefined()
  await comeUp(second?.id ?? '')
  await warm.tick()
  expect(warm.warmthOf('m/chat')).toEqual({ live: 1, lastError: null, nextStartAt: null })
})

test('a program that ends at once without a word is a failure too', async () => {
  take(chat('min: 1'))
  await warm.look()
  const [first] = await sessions()
  const fence = await worker.placed(first?.id ?? '')
  await worker.running(fence)
  await worker.ended(fence)
  expect(warm.warmthOf('m/chat').lastError).toBe('its program ended before it was ready')
})

test('an edit ends idle sessions of the old version at once, and mends what failed', async () => {
  take(chat('min: 1'))
  await warm.look()
  const [old] = await sessions()
  const fence = await comeUp(old?.id ?? '')
  take(chat('min: 1, max: 2', 'serve2'))
  await warm.look()
  expect(await sessions()).toMatchObject([{ seq: old?.seq, by: 'preset_changed', state: 'stopping' }, { by: null }])
  await worker.ended(fence)
  expect(await states()).toHaveLength(1)
})

test('a description that changes ends nothing', async () => {
  await submit()
  await warm.look()
  take(bookOf('chat: {type: session, description: better, command: [serve], session: {max: 2}}'))
  await warm.look()
  expect(await sessions()).toMatchObject([{ by: null, isOutdated: false }])
})

test('a preset that is gone for good takes its sessions along, one that is written anew does not', async () => {
  await submit()
  await warm.look()
  const [session] = await sessions()
  const fence = await comeUp(session?.id ?? '')
  take(bookOf(''))
  await warm.look()
  expect(await sessions()).toMatchObject([{ isOutdated: false }])
  now += 2000
  await warm.tick()
  expect(await sessions()).toMatchObject([{ isOutdated: true }])
  expect(fence.job).toBe(session?.seq)
})

test('a preset whose program would refuse it starts no session and says why', async () => {
  check = () => ({ issues: [{ path: 'session', message: 'found session; the program runs once and ends' }] })
  take(bookOf('chat: {type: session, program: mnist_training}'))
  await submit()
  await warm.look()
  expect(await sessions()).toEqual([])
  expect(warm.warmthOf('m/chat')).toMatchObject({ live: 0, lastError: expect.stringContaining('runs once and ends') })
})

test('a session of a program that workers have is started as its type, and metadata is for its tasks alone', async () => {
  take(bookOf('chat: {type: session, program: inference, metadata: {temperature: 0.5}}'))
  const task = await submit()
  await warm.look()
  const [session] = await sessions()
  const of = async (id: string) => (await hub.call('GET', `/api/v1/jobs/${id}`)).json
  expect(await of(session?.id ?? '')).toMatchObject({ type: 'inference', spec: { input: {} } })
  expect(await of(task)).toMatchObject({ type: 'task', spec: { input: { temperature: 0.5 } } })
})
