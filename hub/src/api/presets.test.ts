import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PresetDetail, PresetList } from '@stoker/protocol'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { PresetFolder } from '../presets/preset-folder.ts'
import { readSettings } from '../presets/settings.ts'
import { TestDocument } from './test-document.ts'
import { openTestHub, type TestHub } from './test-hub.ts'

const PRESETS = `models:
  test-loading:
    inference: {docker_image: "loading-worker:latest", command: [python, /app/worker.py], env_vars: {MODEL_NAME: x}}
  meta-llama/Llama-3:
    chat: {type: session, serves: chat, docker_image: llm, session: {min: 1, max: 2}}
  words:
    count: {command: [wc], metadata: {text: "", lines: 1}, network: internet}
`
let folder = ''
let hub: TestHub
let document: TestDocument
const write = (text: string) => writeFile(join(folder, 'model_presets.yaml'), text)
const submit = (body: unknown) => hub.call('POST', '/api/v1/jobs', { body })
const specOf = async (id: string) => (await hub.call('GET', `/api/v1/jobs/${id}`)).json.spec

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-presets-'))
  const settings = readSettings({})
  const presets = await PresetFolder.open({
    folder,
    keptFile: join(folder, 'kept.json'),
    settings,
    home: '/home/ada',
    check: spec => ({ spec }),
    now: Date.now,
    log: () => {},
  })
  const warmth = { live: 1, lastError: 'it exited with code 3', nextStartAt: 1_700_000_000_000 }
  hub = await openTestHub({ presets: { current: () => presets.current(), settings }, warmthOf: () => warmth })
  document = await TestDocument.read(hub)
})
beforeEach(() => write(PRESETS))
afterAll(async () => {
  await hub.close()
  const own = document.operations.filter(operation => operation.includes('/api/v1/presets'))
  expect([...document.checked]).toEqual(expect.arrayContaining(own))
  await rm(folder, { recursive: true, force: true })
})

test('presets are listed by name, in pages, for every token', async () => {
  const token = await hub.token('read', 'bob')
  const { status, json } = await document.call('GET', '/api/v1/presets?limit=2', { token })
  expect(status).toBe(200)
  const page = PresetList.parse(json)
  expect(page.presets.map(({ name }) => name)).toEqual(['meta-llama/Llama-3/chat', 'test-loading/inference'])
  expect(page).toMatchObject({ folder, errors: [], next: 'test-loading/inference' })
  expect(page.presets[0]).toMatchObject({
    model: 'meta-llama/Llama-3',
    type: 'session',
    serves: 'chat',
    timeoutSeconds: 300,
    imageMissing: null,
    sessions: { min: 1, max: 2, live: 1, lastError: 'it exited with code 3', nextStartAt: '2023-11-14T22:13:20.000Z' },
    file: 'model_presets.yaml',
    line: 5,
  })
  const rest = await hub.call('GET', `/api/v1/presets?cursor=${encodeURIComponent(page.next ?? '')}`, { token })
  expect(rest.json).toMatchObject({ presets: [{ name: 'words/count', relaxed: ['network internet'] }], next: null })
  expect((await hub.call('GET', '/api/v1/presets', { token: null })).status).toBe(401)
})

test('one is shown by its model and name, or by its whole name, with the spec it becomes', async () => {
  const { json } = await document.call('GET', '/api/v1/presets/test-loading/inference')
  expect(PresetDetail.parse(json)).toMatchObject({
    name: 'test-loading/inference',
    sessions: null,
    build: null,
    spec: { image: 'loading-worker:latest', env: { MODEL_NAME: 'x' }, container: { workdir: 'image' } },
  })
  for (const path of ['meta-llama%2FLlama-3/chat', 'meta-llama%2FLlama-3%2Fchat'])
    expect((await document.call('GET', `/api/v1/presets/${path}`)).json).toMatchObject({
      name: 'meta-llama/Llama-3/chat',
      spec: { session: { concurrency: 1 } },
    })
  const missing = await hub.call('GET', '/api/v1/presets/test-loading/inferense')
  expect(missing).toMatchObject({ status: 404, json: { code: 'preset.not_found' } })
  expect(missing.json.detail).toContain('did you mean "test-loading/inference"?')
})

test('a job that names a preset is the whole job of it, and keeps the name', async () => {
  const { status, json } = await submit({ preset: 'words/count', input: { text: 'a b' }, priority: 3 })
  expect(status).toBe(201)
  expect(await specOf(json.jobs[0].id)).toMatchObject({
    name: 'words/count',
    preset: 'words/count',
    command: ['wc'],
    input: { text: 'a b', lines: 1 },
    priority: 3,
    timeoutMs: 300_000,
    env: { MODEL_NAME: 'words' },
  })
})

test('in a batch and in a group too', async () => {
  const batch = await submit({ jobs: [{ type: 'noop' }, { preset: 'words/count', name: 'w' }] })
  expect(await specOf(batch.json.jobs[1].id)).toMatchObject({ name: 'w', command: ['wc'] })
  const group = await submit({ preset: 'words/count', array: 2, input: { text: 'x' } })
  expect(await specOf(group.json.jobs[1].id)).toMatchObject({ name: 'words/count[1]', preset: 'words/count' })
})

test('what is wrong beside a preset is refused with its place', async () => {
  const unknown = await submit({ preset: 'words/cuont' })
  expect(unknown).toMatchObject({ status: 404, json: { code: 'preset.not_found' } })
  expect(unknown.json.detail).toContain('did you mean "words/count"?')
  const second = await submit({ jobs: [{ type: 'noop' }, { preset: 'words/cuont' }] })
  expect(second.json.errors).toEqual([{ path: 'jobs[1].preset', message: expect.stringContaining('no preset') }])
  const stray = await submit({ jobs: [{ type: 'noop' }, { preset: 'words/count', command: 'x' }] })
  expect(stray).toMatchObject({ status: 400, json: { code: 'spec.invalid', errors: [{ path: 'jobs[1].command' }] } })
  const typo = await submit({ preset: 'words/count', inptu: {} })
  expect(typo.json.errors[0].message).toContain('did you mean "input"?')
  expect((await submit({ preset: 7 })).json.errors[0].path).toBe('preset')
})

test('an edit counts for the next submit, a broken one is shown and changes nothing', async () => {
  await write(PRESETS.replace('[wc]', '[wc, -l]'))
  expect(await specOf((await submit({ preset: 'words/count' })).json.jobs[0].id)).toMatchObject({
    command: ['wc', '-l'],
  })
  await write(PRESETS.replace('command: [wc]', 'comand: [wc]'))
  expect((await submit({ preset: 'words/count' })).status).toBe(201)
  const { json } = await hub.call('GET', '/api/v1/presets')
  expect(json.presets).toHaveLength(3)
  expect(json.errors).toEqual([
    {
      file: 'model_presets.yaml',
      line: 7,
      column: 13,
      message: expect.stringContaining('words/count.comand: unknown key "comand"; did you mean "command"?'),
    },
  ])
})

test('a schedule may name a preset, which is looked up at every run', async () => {
  const body = { name: 'nightly', cron: '0 3 * * *', spec: { preset: 'words/count', input: { text: 'x' } } }
  expect((await hub.call('POST', '/api/v1/schedules', { body })).status).toBe(201)
  await write(PRESETS.replace('[wc]', '[wc, -c]'))
  const { json } = await hub.call('POST', '/api/v1/schedules/nightly/run')
  expect(await specOf(json.lastJob)).toMatchObject({ command: ['wc', '-c'], input: { text: 'x', lines: 1 } })
  const wrong = await hub.call('POST', '/api/v1/schedules', { body: { ...body, name: 'n2', spec: { preset: 'w' } } })
  expect(wrong.json.errors[0]).toMatchObject({ path: 'spec.preset', message: expect.stringContaining('no preset "w"') })
})
