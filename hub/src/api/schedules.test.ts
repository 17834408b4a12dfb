import { uuidv7 } from 'uuidv7'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Firing } from '../schedules/firing.ts'
import { TestDocument } from './test-document.ts'
import { noPresets, openTestHub, type TestHub } from './test-hub.ts'

let hub: TestHub
let document: TestDocument
beforeAll(async () => {
  hub = await openTestHub()
  document = await TestDocument.read(hub)
})
afterAll(async () => {
  await hub.close()
  const own = document.operations.filter(operation => operation.includes('/api/v1/schedules'))
  expect([...document.checked]).toEqual(expect.arrayContaining(own))
})

const path = '/api/v1/schedules'
const daily = { cron: '0 3 * * *', spec: { type: 'noop', timeout: '90s' } }

/** The hub's clockwork with the time in the test's hands. */
function firingAt(now: () => number, over: Partial<ConstructorParameters<typeof Firing>[0]> = {}): Firing {
  const { engine, store } = hub
  return new Firing({
    engine,
    queries: store.queries,
    now,
    newId: uuidv7,
    diskGuard: () => null,
    presets: noPresets,
    ...over,
  })
}

async function add(body: object) {
  const { json, status } = await document.call('POST', path, { body })
  expect(status, JSON.stringify(json)).toBe(201)
  return json
}

const jobsOf = async (name: string) =>
  (await hub.call('GET', `/api/v1/jobs?label=schedule%3D${name}`)).json.jobs as { id: string; state: string }[]

test('is made with its defaults, shown by name or id, listed, and removed', async () => {
  const made = await add({ name: 'first', ...daily })
  expect(made).toMatchObject({
    ...{ name: 'first', owner: 'ada', timezone: 'UTC', overlap: 'skip', catchUp: 'none', enabled: true },
    ...{ runs: 0, last: null, lastJob: null, spec: daily.spec },
  })
  expect(new Date(made.nextAt).getUTCHours()).toBe(3)
  for (const ref of ['first', made.id]) expect((await document.call('GET', `${path}/${ref}`)).json).toEqual(made)
  expect((await document.call('GET', `${path}?limit=1`)).json).toMatchObject({
    schedules: [{ id: made.id }],
    next: null,
  })
  expect((await document.call('POST', path, { body: { name: 'first', ...daily } })).json.code).toBe(
    'schedule.name_taken',
  )
  expect((await document.call('DELETE', `${path}/first`)).status).toBe(204)
  expect((await document.call('GET', `${path}/first`)).json.code).toBe('schedule.not_found')
})

test('what is wrong is refused with its field', async () => {
  for (const [body, at] of [
    [{ ...daily, name: 'x', cron: '99 * * * *' }, 'cron'],
    [{ ...daily, name: 'x', timezone: 'Mars' }, 'timezone'],
    [{ ...daily, name: 'x', spec: { type: 'noop', timeout: 'soon' } }, 'spec.timeout'],
    [{ ...daily, name: 'x', spec: { type: 'noop', array: 0 } }, 'spec.array'],
    [{ ...daily, name: 'no spaces' }, 'name'],
    [{ ...daily }, 'name'],
    [{ ...daily, name: 'x', overlap: 'never' }, 'overlap'],
    [{ ...daily, name: 'x', crn: '' }, 'crn'],
    [{ name: 'x', cron: '@daily' }, 'spec'],
  ] as const) {
    const { json } = await document.call('POST', path, { body })
    expect(json, at).toMatchObject({ status: 400, code: 'request.invalid', errors: [{ path: at }] })
  }
  await add({ name: 'good', ...daily })
  const { json } = await document.call('PATCH', `${path}/good`, { body: { cron: 'x' } })
  expect(json).toMatchObject({ status: 400, errors: [{ path: 'cron' }] })
})

test('is paused, resumed and changed; only its owner and an admin may', async () => {
  const made = await add({ name: 'moody', ...daily })
  const patch = (body: object, token?: string) => document.call('PATCH', `${path}/moody`, { body, token })
  expect((await patch({ enabled: false })).json).toMatchObject({ enabled: false, nextAt: null })
  expect((await patch({ enabled: true })).json.nextAt).toBe(made.nextAt)
  const changed = (await patch({ timezone: 'Europe/Berlin', spec: { type: 'echo' } })).json
  expect(changed).toMatchObject({ cron: daily.cron, timezone: 'Europe/Berlin', spec: { type: 'echo' } })
  expect(changed.nextAt).not.toBe(made.nextAt)
  const other = await hub.token('submit', 'eve')
  expect((await patch({ enabled: false }, other)).json.code).toBe('schedule.not_found')
  expect((await document.call('GET', path, { token: other })).json.schedules).toEqual([])
})

test('a due time is met once, however often and by how many it is looked for', async () => {
  const { nextAt } = await add({ name: 'exact', ...daily, spec: { type: 'noop', array: 2 } })
  const due = Date.parse(nextAt)
  await firingAt(() => due - 1).look()
  expect(await jobsOf('exact')).toHaveLength(0)
  const [one, two] = [firingAt(() => due), firingAt(() => due + 500)]
  await Promise.all([one.look(), one.look(), two.look()])
  await two.look()
  expect(await jobsOf('exact')).toHaveLength(2)
  const { json } = await document.call('GET', `${path}/exact`)
  expect(json).toMatchObject({
    runs: 1,
    last: { outcome: 'submitted' },
    nextAt: new Date(due + 86_400_000).toISOString(),
  })
  const group = (await hub.call('GET', `/api/v1/groups/${json.lastGroup}`)).json
  expect(group).toMatchObject({ size: 2, owner: 'ada' })
})

test('a clock that goes back fires nothing again', async () => {
  const due = Date.parse((await add({ name: 'back', ...daily })).nextAt)
  await firingAt(() => due).look()
  await firingAt(() => due - 3_600_000).look()
  await firingAt(() => due + 1000).look()
  expect(await jobsOf('back')).toHaveLength(1)
})

test('times that passed while the hub was away are recorded as missed, or made up for once', async () => {
  const none = await add({ name: 'none', ...daily })
  await add({ name: 'one', ...daily, catchUp: 'one' })
  const late = Date.parse(none.nextAt) + 3 * 86_400_000 + 3_600_000
  await firingAt(() => late).look()
  expect(await jobsOf('none')).toHaveLength(0)
  expect(await jobsOf('one')).toHaveLength(1)
  const { json } = await document.call('GET', `${path}/none`)
  expect(json.last).toMatchObject({ outcome: 'missed' })
  expect(json.last.reason).toBe(`4 times from ${none.nextAt} on passed while the hub was away; catchUp is "none"`)
  expect(Date.parse(json.nextAt)).toBeGreaterThan(late)
})

test('a run that cannot be submitted is recorded with the reason', async () => {
  const due = Date.parse((await add({ name: 'full', ...daily })).nextAt)
  await firingAt(() => due, { diskGuard: () => ({ freeBytes: 1, neededBytes: 2 }) }).look()
  const { json } = await document.call('GET', `${path}/full`)
  expect(json).toMatchObject({ runs: 0, last: { outcome: 'refused', reason: '1 bytes are free, new work needs 2' } })
})

test('runs at once when asked, unless the run before goes on', async () => {
  await add({ name: 'asked', ...daily, enabled: false })
  const ran = await document.call('POST', `${path}/asked/run`)
  expect([ran.status, ran.json.runs, ran.json.nextAt]).toEqual([201, 1, null])
  expect((await jobsOf('asked')).map(job => job.id)).toEqual([ran.json.lastJob])
  expect((await document.call('POST', `${path}/asked/run`)).json).toMatchObject({
    status: 409,
    code: 'schedule.overlap',
  })
})

test('a schedule names nothing that would be gone at its later runs', async () => {
  const files = [{ path: 'a', sha256: 'ab'.repeat(32), size: 1 }]
  const dependsOn = ['01890000-0000-7000-8000-000000000001']
  const body = { name: 'fleeting', cron: '@daily', spec: { command: 'x', files, dependsOn } }
  const { status, json } = await hub.call('POST', '/api/v1/schedules', { body })
  expect(status).toBe(400)
  expect(json.errors.map(({ path }: { path: string }) => path)).toEqual(['spec.dependsOn', 'spec.files'])
})
