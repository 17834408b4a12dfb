import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { JobDetail, NewTask, SessionPhase, SessionView } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { becomes, ended } from './harness/jobs.ts'
import { processesWith } from './harness/processes.ts'

const PROGRAM = fileURLToPath(new URL('./harness/session.py', import.meta.url))
let house: House
let hub: Awaited<ReturnType<House['startHub']>>

beforeEach(async () => {
  house = await House.open()
  hub = await house.startHub()
})
afterEach(() => house.close())

type Wishes = NonNullable<Parameters<House['client']['startSession']>[0]['session']>

function start(session: Wishes = {}): Promise<SessionView> {
  const command = ['python3', '-u', PROGRAM, house.path('marks')]
  return house.client.startSession({ command, isolation: 'none', resources: { cpus: 0.1 }, session })
}

const until = (id: string, state: SessionPhase) =>
  expect.poll(async () => (await house.client.session(id)).state, { timeout: 30_000, interval: 50 }).toBe(state)

async function ask(id: string, input: NewTask['input'], more: NewTask = {}): Promise<JobDetail> {
  return ended(house.client, (await house.client.sendTask(id, { input, ...more })).id)
}

async function marks(): Promise<string[]> {
  return (await readFile(house.path('marks'), 'utf8')).trim().split('\n')
}

const isHeldBack = (say: string) => ({ say, gate: house.path(`gate-${say}`) })
const letGo = (say: string) => writeFile(house.path(`gate-${say}`), '')

it('keeps its program between ten tasks, and is gone after its idle timeout with everything freed', async () => {
  await house.startWorker('w')
  const { id } = await start({ idleTimeout: '3s' })
  for (let n = 1; n <= 10; n += 1) {
    const task = await ask(id, { say: `task ${n}` })
    expect(task).toMatchObject({ state: 'succeeded', result: { text: `task ${n} ${n}` }, session: id })
  }
  const sent = await house.stoker(['session', 'send', id, '--input', 'say=cli'])
  expect(sent.stdout).toBe('cli 11\n')
  await until(id, 'ended')
  expect(await house.client.session(id)).toMatchObject({ reason: 'idle_timeout', attempts: 1 })
  expect(await house.client.worker('w')).toMatchObject({ running: 0, cpus: { claimed: 0 } })
  await expect.poll(() => processesWith(house.path('marks')), { timeout: 10_000 }).toEqual([])
  await expect(house.client.sendTask(id, {})).rejects.toThrow('has ended')
})

it('loses and repeats nothing when hub and worker are killed with a task in its place and others behind it', async () => {
  const worker = await house.startWorker('w')
  const { id } = await start({ queue: 20 })
  const sent = [await house.client.sendTask(id, { input: isHeldBack('zero') })]
  await becomes(house.client, sent[0]?.id ?? '', 'running')
  for (let n = 1; n <= 4; n += 1) sent.push(await house.client.sendTask(id, { input: { say: `n${n}` } }))
  await hub.kill()
  hub = await house.startHub()
  sent.push(await house.client.sendTask(id, { input: { say: 'n5' } }))
  await worker.kill()
  await letGo('zero')
  await house.startWorker('w', { joins: false })
  const tasks = await Promise.all(sent.map(task => ended(house.client, task.id)))
  expect(tasks.map(({ state, result, attempts }) => [state, result, attempts])).toEqual([
    ['succeeded', { text: 'zero 1' }, 1],
    ...[1, 2, 3, 4, 5].map(n => ['succeeded', { text: `n${n} ${n + 1}` }, 1]),
  ])
  expect(await marks()).toEqual(sent.map(task => task.id))
  expect(await house.client.session(id)).toMatchObject({ attempts: 1 })
  await house.client.endSession(id)
  await until(id, 'ended')
})

it('refuses tasks when its queue is full, and takes them in order', async () => {
  await house.startWorker('w')
  const { id } = await start({ queue: 1 })
  await until(id, 'waiting')
  const first = await house.client.sendTask(id, { input: isHeldBack('one') })
  await becomes(house.client, first.id, 'running')
  const second = await house.client.sendTask(id, { input: { say: 'two' } })
  await expect(house.client.sendTask(id, {})).rejects.toMatchObject({ problem: { code: 'session.full', status: 503 } })
  expect(await house.client.session(id)).toMatchObject({ state: 'working', working: [first.id], queued: 1 })
  await letGo('one')
  expect((await ended(house.client, second.id)).result).toEqual({ text: 'two 2' })
  expect(await ask(id, { fail: true })).toMatchObject({ state: 'failed', reason: 'as asked' })
  expect((await ask(id, { say: 'goes on' })).result).toEqual({ text: 'goes on 4' })
  await house.client.endSession(id)
  await until(id, 'ended')
  expect((await house.client.session(id)).reason).toBe('manual')
})

it('starts again after a crash, a timeout and a cancel, as often as was asked for, and fails what waits at the end', async () => {
  await house.startWorker('w')
  const { id } = await start({ restarts: 2, queue: 5 })
  await until(id, 'waiting')
  expect(await ask(id, { crash: true })).toMatchObject({ state: 'failed' })
  expect((await ask(id, { say: 'again' })).result).toEqual({ text: 'again 1' })
  expect(await ask(id, isHeldBack('never'), { timeout: '1s' })).toMatchObject({ state: 'timed_out' })
  expect((await ask(id, { say: 'third' })).result).toEqual({ text: 'third 1' })
  const stuck = await house.client.sendTask(id, { input: isHeldBack('never') })
  await becomes(house.client, stuck.id, 'running')
  const waiting = await house.client.sendTask(id, {})
  await house.client.cancel(stuck.id)
  expect((await ended(house.client, stuck.id)).state).toBe('canceled')
  expect(await ended(house.client, waiting.id)).toMatchObject({ state: 'failed', reason: 'session ended: error' })
  expect(await house.client.session(id)).toMatchObject({ state: 'ended', reason: 'error', attempts: 3 })
})
