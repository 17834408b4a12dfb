import { afterAll, beforeAll, expect, test } from 'vitest'
import { presetsOf } from '../presets/test-presets.ts'
import { CONTENT, CONTENT_NAME, type Line, MATRIX } from './test-access.ts'
import { TestDocument } from './test-document.ts'
import { openTestHub, type TestHub } from './test-hub.ts'
import { HARDWARE, TestWorker } from './test-worker.ts'

/** Everything of the fixtures belongs to anna. */
const OWNER = 'anna'
const CALLERS = [
  'nobody',
  'a stranger',
  'join anna',
  'read anna',
  'submit anna',
  'read bob',
  'submit bob',
  'admin ada',
] as const
type CallerName = (typeof CALLERS)[number]

let hub: TestHub
let document: TestDocument
/** Of anna's; its program left one file. */
let artifactJob: string
const secrets = new Map<CallerName, string | null>()

beforeAll(async () => {
  hub = await openTestHub({
    presets: presetsOf({
      'model_presets.yaml': 'models: {words: {count: {command: [wc]}}}',
      'task_definitions.yaml': 'count: {}',
      'task_actions.yaml': 'count: {command: [wc]}',
    }),
  })
  document = await TestDocument.read(hub)
  secrets.set('nobody', null)
  secrets.set('a stranger', 'stk_guessed-by-a-stranger-who-has-none')
  for (const name of CALLERS.slice(2)) {
    const [role = '', owner = ''] = name.split(' ')
    secrets.set(name, await hub.token(role as 'join', owner))
  }
  for (const name of ['submit anna', 'submit bob', 'admin ada'] as const) await upload(secrets.get(name) ?? '')
  artifactJob = await jobWithArtifact()
})
afterAll(() => hub.close())

async function upload(token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' }
  const { status } = await fetch(`${hub.url}/api/v1/blobs/${CONTENT_NAME}`, { method: 'PUT', headers, body: CONTENT })
  expect(status).toBe(201)
}

async function jobWithArtifact(): Promise<string> {
  const token = secrets.get('submit anna')
  const { json } = await hub.call('POST', '/api/v1/jobs', { token, body: { command: 'x', outputs: ['out/*'] } })
  const worker = await TestWorker.join(hub, { name: 'finisher' })
  const fence = await worker.placed(json.jobs[0].id)
  const entry = { path: 'out/a.txt', sha256: CONTENT_NAME, size: CONTENT.length, executable: false }
  await worker.ended(fence, { artifacts: [entry] })
  await hub.call('DELETE', '/api/v1/workers/finisher')
  return json.jobs[0].id
}

/** The status a caller should get: that of success stands in the document. */
function expected(line: Line, caller: CallerName, success: number): number {
  const [role, owner] = caller.split(' ')
  if (line.access === 'open') return success
  if (line.access === 'workers') return 401
  if (role === 'nobody' || role === 'a') return 401
  if (role === 'admin') return success
  if (role === 'join' || line.access === 'rule') return 403
  if (line.access === 'scrape') return role === 'read' ? success : 403
  if (role === 'read' && (line.access === 'act' || line.access === 'ownAct')) return 403
  if (owner !== OWNER && line.access === 'ownScope') return 403
  return owner !== OWNER && (line.access === 'own' || line.access === 'ownAct') ? 404 : success
}

async function makeParam(line: Line, caller: CallerName): Promise<string> {
  const engine = hub.engine
  switch (line.param) {
    case 'job':
    case 'ended job': {
      const token = secrets.get('submit anna')
      const { json } = await hub.call('POST', '/api/v1/jobs', { token, body: { type: 'noop', name: 'x' } })
      const { id } = json.jobs[0]
      if (line.param === 'ended job') await hub.call('POST', `/api/v1/jobs/${id}/cancel`, { token })
      return id
    }
    case 'worker':
      return (await TestWorker.join(hub, { name: `w-${Math.random()}`, maxJobs: 0 })).id
    case 'token': {
      const { json } = await hub.call('POST', '/api/v1/tokens', { body: { role: 'read', owner: OWNER } })
      return json.id
    }
    case 'secret': {
      const owner = caller === 'admin ada' ? 'ada' : OWNER
      await engine.execute({ kind: 'setSecret', owner, name: 'KEY', bytes: 1, sealed: 'x' })
      await engine.execute({ kind: 'removeSecret', owner: 'bob', name: 'KEY' }).catch(() => {})
      return 'KEY'
    }
    case 'new secret':
      return 'OTHER'
    case 'group': {
      const body = { type: 'noop', name: 'g', array: 2 }
      const { json } = await hub.call('POST', '/api/v1/jobs', { token: secrets.get('submit anna'), body })
      if (line.isOver === true) await hub.call('POST', `/api/v1/groups/${json.groups[0].id}/cancel`)
      return json.groups[0].id
    }
    case 'session': {
      const body = { command: 'serve' }
      return (await hub.call('POST', '/api/v1/sessions', { token: secrets.get('submit anna'), body })).json.id
    }
    case 'schedule': {
      const body = { name: `s${Math.random()}`, cron: '0 3 * * *', spec: { type: 'noop' } }
      return (await hub.call('POST', '/api/v1/schedules', { token: secrets.get('submit anna'), body })).json.id
    }
    case 'webhook': {
      const body = { url: 'http://127.0.0.1:1/' }
      const { json } = await hub.call('GET', '/api/v1/webhooks')
      for (const { id } of json.webhooks) await hub.call('DELETE', `/api/v1/webhooks/${id}`)
      return (await hub.call('POST', '/api/v1/webhooks', { token: secrets.get('submit anna'), body })).json.id
    }
    case 'device': {
      const uuid = `GPU-${Math.random()}`
      const gpu = { index: 0, uuid, name: 'Test GPU', memoryMb: 24_000, driver: null, simulated: false }
      await TestWorker.join(hub, { name: uuid, maxJobs: 0, hardware: { ...HARDWARE, gpus: [gpu] } })
      await hub.call('POST', `/api/v1/devices/${uuid}/quarantine`, { body: { reason: 'hot' } })
      return uuid
    }
    case 'listener':
      return (await hub.call('POST', '/api/v1/listeners', { body: { url: 'https://127.0.0.1:0' } })).json.name
    case 'artifact':
      return artifactJob
    case 'owner':
      return OWNER
    case 'preset':
      return 'count'
    default:
      return ''
  }
}

async function statusOf(operation: string, line: Line, caller: CallerName): Promise<number> {
  const [method = '', template = ''] = operation.split(' ')
  const path = template
    .replace('{*}', 'out/a.txt')
    .replace('{sha256}', CONTENT_NAME)
    .replace('{attempt}', '1-1-1')
    .replace('{model}', 'words')
    .replace(/\{[^}]+\}/, await makeParam(line, caller))
  const token = secrets.get(caller)
  const following = new AbortController()
  const reply = await fetch(hub.url + path, {
    method: method.toUpperCase(),
    signal: following.signal,
    headers: {
      ...(token == null ? {} : { authorization: `Bearer ${token}` }),
      ...(line.body === undefined
        ? {}
        : { 'content-type': typeof line.body === 'string' ? 'application/octet-stream' : 'application/json' }),
    },
    ...(line.body === undefined ? {} : { body: typeof line.body === 'string' ? line.body : JSON.stringify(line.body) }),
  })
  following.abort()
  return reply.status
}

test('every route of the document has its line', () => {
  expect(Object.keys(MATRIX).sort()).toEqual([...document.operations].sort())
})

test.each(Object.entries(MATRIX))('%s answers each role and owner as it should', async (operation, line) => {
  const [method = '', template = ''] = operation.split(' ')
  const promised = Object.keys(document.paths[template]?.[method]?.responses ?? {})
  const success = line.success ?? Number(promised.find(status => status.startsWith('2')))
  const found: Record<string, number> = {}
  const wanted: Record<string, number> = {}
  for (const caller of CALLERS) {
    found[caller] = await statusOf(operation, line, caller)
    wanted[caller] = expected(line, caller, success)
  }
  expect(found).toEqual(wanted)
})

test.each(['/api/v1/jobs', '/api/v1/counts', '/api/v1/secrets'])(
  '%s shows another owner to an admin only, and one owner nothing of another',
  async path => {
    const ask = (caller: CallerName) => hub.call('GET', `${path}?owner=${OWNER}`, { token: secrets.get(caller) })
    expect((await ask('submit anna')).status).toBe(200)
    expect((await ask('read bob')).json).toMatchObject({ status: 403, code: 'auth.forbidden' })
    expect((await ask('admin ada')).status).toBe(200)
  },
)

test('a list, a count and the feed of one owner hold nothing of another', async () => {
  const token = await hub.token('submit', 'carol')
  const foreign = await hub.call('POST', '/api/v1/jobs', { body: { type: 'noop' }, token: secrets.get('submit anna') })
  expect((await hub.call('GET', '/api/v1/jobs', { token })).json.jobs).toEqual([])
  expect(Object.values((await hub.call('GET', '/api/v1/counts', { token })).json.counts)).toEqual(Array(7).fill(0))
  expect((await hub.call('GET', '/api/v1/secrets', { token })).json.secrets).toEqual([])
  const own = await hub.call('POST', '/api/v1/jobs', { body: { type: 'noop' }, token })
  const following = new AbortController()
  const { body } = await fetch(`${hub.url}/api/v1/feed?from=0`, {
    headers: { authorization: `Bearer ${token}` },
    signal: following.signal,
  })
  let heard = ''
  for await (const part of body ?? []) {
    heard += Buffer.from(part).toString()
    if (heard.includes(own.json.jobs[0].id)) break
  }
  following.abort()
  expect(heard).not.toContain(foreign.json.jobs[0].id)
  expect(heard).not.toContain(OWNER)
})
