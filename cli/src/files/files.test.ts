import { createHash } from 'node:crypto'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Artifact, Attempt } from '@stoker/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { aJob, asJob, openStream, refuse, reply, sse } from '../../../client/src/test-hub.ts'
import { useTestHub } from '../test-terminal.ts'
import { parseFileOption } from './local-file.ts'

const { hub, stoker, home } = useTestHub()
const NOW = '2026-01-01T00:00:00.000Z'
const bodies = new Map<string, string>()
const left = new Map<string, string>()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function listed(): Artifact[] {
  return [...left].map(([path, text]) => ({
    path,
    size: text.length,
    sha256: sha256(text),
    type: 'text/plain',
    executable: false,
  }))
}

beforeEach(async () => {
  bodies.clear()
  left.clear()
  hub().on('HEAD /api/v1/blobs/:id', (_, response) => void response.writeHead(404, { 'upload-offset': 0 }).end())
  hub().on('PUT /api/v1/blobs/:id', ({ body }, response, id) => {
    bodies.set(id, body)
    reply(response, sha256(body) === id ? 201 : 422, { sha256: id, size: body.length })
  })
  hub().on('GET /api/v1/jobs/:id/artifacts', (_, response) => reply(response, 200, { artifacts: listed(), bytes: 0 }))
  hub().on('GET /api/v1/jobs/[^/]+/artifacts/.*', ({ path }, response) => {
    const name = decodeURIComponent(path.split('/artifacts/')[1] ?? '')
    response.writeHead(200).end(left.get(name))
  })
  hub().on('GET /api/v1/jobs/:id/events', (_, response, id) => {
    openStream(response)
    const job = { ...asJob(hub().jobs.get(id) ?? aJob()), state: 'succeeded' }
    response.end(sse('end', job))
  })
})

describe('a local path', () => {
  it.each([
    ['.', '/p', '.'],
    ['src/a.py', '/p/src/a.py', 'src/a.py'],
    ['../x', '/x', 'x'],
    ['/data/set', '/data/set', 'set'],
    ['a:b/c', '/p/a', 'b/c'],
    ['/data:.', '/data', '.'],
  ])('%s is %s and goes to %s', (text, from, to) => {
    expect(parseFileOption(text, '/p')).toMatchObject({ from, to })
  })
})

describe('stoker run', () => {
  it('sends a folder, and brings outputs back without touching what was changed meanwhile', async () => {
    await writeFile(join(home(), 'a.txt'), 'a')
    await writeFile(join(home(), 'old.txt'), 'old')
    await writeFile(join(home(), '.stokerignore'), 'contexts.json\nmine.txt')
    await writeFile(join(home(), 'mine.txt'), 'mine')
    for (const name of ['old.txt', 'new.txt', 'mine.txt', 'a.txt'])
      left.set(name, name === 'a.txt' ? 'a' : `job ${name}`)
    const { code, stderr } = await stoker(['run', '--files', '.', '--output', '*.txt', '--', 'true'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) })
    const [job] = [...hub().jobs.values()]
    const [file] = job?.spec.files ?? []
    expect(file).toMatchObject({ path: '.', unpack: 'tar' })
    expect(bodies.get(file?.sha256 ?? '')).toContain('old.txt')
    expect(job?.spec.outputs).toEqual(['*.txt'])
    const texts = ['a.txt', 'old.txt', 'new.txt', 'mine.txt'].map(name => readFile(join(home(), name), 'utf8'))
    expect(await Promise.all(texts)).toEqual(['a', 'job old.txt', 'job new.txt', 'mine'])
    expect(stderr).toMatch(/mine\.txt was changed here/)
    expect(stderr).toMatch(/4 files/)
  })

  it('says of a program that failed which file it was given but not sent', async () => {
    await writeFile(join(home(), 'train.py'), '')
    hub().on('GET /api/v1/jobs/:id/events', (_, response, id) => {
      openStream(response)
      response.end(sse('end', { ...asJob(hub().jobs.get(id) ?? aJob()), state: 'failed', exitCode: 2 }))
    })
    const unsent = 'train.py of this folder was not sent; a job begins in an empty one'
    expect((await stoker(['run', '--', 'python3', 'train.py'])).stderr).toContain(unsent)
    expect((await stoker(['run', '--files', 'train.py', '--', 'python3', 'train.py'])).stderr).not.toContain(unsent)
    expect((await stoker(['run', '--', 'python3', 'other.py', '', '/etc/passwd'])).stderr).not.toContain('was not sent')
  })

  it('says which outputs there were none of', async () => {
    const attempt: Attempt = {
      ...{ number: 1, epoch: 1, worker: { id: 'w', name: 'box' }, state: 'ended', outcome: 'completed' },
      ...{ isolation: null, containerId: null, gpus: [], placedAt: NOW, startedAt: NOW, endedAt: NOW },
      ...{ exitCode: 0, signal: null, error: null, usage: null },
      note: 'no finish event; no file matches "m*"',
    }
    hub().on('GET /api/v1/jobs/:id', (_, response, id) =>
      reply(response, 200, { ...(hub().jobs.get(id) ?? aJob()), history: [attempt] }),
    )
    const words = ['run', '--output', 'm*', '--', 'true']
    const { code, stderr } = await stoker(words)
    expect({ code, last: stderr.split('\n').at(-2) }).toEqual({ code: 0, last: 'no file matches "m*"' })
    hub().on('GET /api/v1/jobs/:id', (_, response) => refuse(response, 'job.not_found', 'gone'))
    expect((await stoker(words)).code).toBe(0)
  })

  it('says at once that there is no hub to send anything to', async () => {
    await writeFile(join(home(), 'x.py'), '')
    const env = { STOKER_URL: 'http://127.0.0.1:1', STOKER_TOKEN: 'x' }
    const away = await stoker(['run', '--files', 'x.py', '--', 'true'], { env })
    expect(away).toMatchObject({ code: 125, stderr: expect.stringContaining('nothing listens there') })
  })

  it('says what it cannot send', async () => {
    await symlink('/etc', join(home(), 'etc'))
    const missing = await stoker(['run', '--files', 'nothing', '--', 'true'])
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing cannot be sent: it does not exist'),
    })
    const link = await stoker(['run', '--files', '.', '--', 'true'])
    expect(link).toMatchObject({ code: 2, stderr: expect.stringContaining('"etc" links to "/etc"') })
  })
})

it('a group and a session get the files that are named, as a job does', async () => {
  await writeFile(join(home(), 'x.py'), 'print(1)')
  const bodies: { files?: unknown }[] = []
  for (const route of ['POST /api/v1/jobs', 'POST /api/v1/sessions'])
    hub().on(route, ({ body, query }, response) => {
      bodies.push({ ...JSON.parse(body), failFast: query.get('failFast') })
      refuse(response, 'spec.invalid', 'only looked at')
    })
  await stoker(['run', '--array', '3', '--files', 'x.py', '--', 'python3', 'x.py'])
  await stoker(['session', 'start', '--files', 'x.py', '--fail-fast', '--', 'python3', 'x.py'])
  const files = [{ path: 'x.py', sha256: sha256('print(1)'), size: 8 }]
  expect(bodies).toMatchObject([
    { files, array: 3, failFast: null },
    { files, failFast: 'true' },
  ])
})

it('brings home what the jobs of a group left side by side, each into a folder of its own', async () => {
  const id = '01890000-0000-7000-8000-0000000000aa'
  const members = ['x[lr=0.1]', 'x[lr=../up]'].map((name, index) => ({
    ...asJob(aJob({ name, state: 'succeeded' })),
    id: `01890000-0000-7000-8000-0000000000b${index}`,
  }))
  left.set('m.bin', 'model')
  hub().on('POST /api/v1/jobs', (_, response) => {
    const jobs = members.map(one => ({ id: one.id, unschedulable: null }))
    reply(response, 201, { jobs, groups: [{ id, name: 'x', first: 0, size: 2 }] })
  })
  hub().on('GET /api/v1/jobs', ({ query }, response) =>
    reply(response, 200, { jobs: query.get('group') === id ? members : [], next: null }),
  )
  const asked: (() => void)[] = []
  hub().on('GET /api/v1/jobs/[^/]+/artifacts/.*', (_, response) => {
    asked.push(() => response.writeHead(200).end('model'))
    if (asked.length === members.length) for (const answer of asked) answer()
  })
  const counts = { waiting: 0, queued: 0, active: 0, succeeded: 2, failed: 0, canceled: 0, timed_out: 0 }
  const facts = { id, name: 'x', owner: 'ann', size: 2, maxParallel: null, retryOf: null }
  hub().on('GET /api/v1/groups/:id', (_, response) =>
    reply(response, 200, { ...facts, submittedAt: NOW, endedAt: NOW, counts, failures: [] }),
  )
  const { code, stderr } = await stoker(['run', '--matrix', 'lr=0.1,../up', '--output', 'm.bin', '--', 'x'])
  const folder = join(home(), 'stoker-outputs', id.slice(-12))
  expect({ code, last: stderr.split('\n').at(-2) }).toEqual({ code: 0, last: `2 files, 10 B, in ${folder}` })
  for (const own of ['lr=0.1', '0000000000b1']) expect(await readFile(join(folder, own, 'm.bin'), 'utf8')).toBe('model')
  expect((await stoker(['run', '--array', '2', '--', 'x'])).stderr).not.toContain('files')
})

it.each(['--files', '--after', '--fail-fast'])('a schedule has no %s: its runs come later', async option => {
  const added = await stoker(['schedule', 'add', 'x', '--cron', '@daily', option, 'y', '--', 'true'])
  expect(added).toMatchObject({ code: 2, stderr: expect.stringContaining(`unknown option '${option}'`) })
})

it('stoker submit sends the local files of a job file, relative to it', async () => {
  await mkdir(join(home(), 'jobs'))
  await writeFile(join(home(), 'jobs', 'x.py'), 'print(1)')
  await writeFile(join(home(), 'jobs', 'job.yaml'), 'command: python3 y.py\nfiles:\n  - {from: x.py, to: y.py}\n')
  expect((await stoker(['submit', join(home(), 'jobs', 'job.yaml')])).code).toBe(0)
  const [job] = [...hub().jobs.values()]
  expect(job?.spec.files).toMatchObject([{ path: 'y.py', sha256: sha256('print(1)'), size: 8 }])
})

describe('stoker artifacts', () => {
  const get = (...more: string[]) => {
    const job = aJob()
    hub().jobs.set(job.id, job)
    return stoker(['artifacts', 'get', job.id, '--out', 'got', ...more])
  }

  it('fetches what is asked for, and says what is not there', async () => {
    left.set('out/a b.txt', 'one').set('out/c', 'two').set('d', 'three')
    expect((await get('out')).stdout).toMatch(/2 files/)
    expect(await readFile(join(home(), 'got/out/a b.txt'), 'utf8')).toBe('one')
    expect(await get('nope')).toMatchObject({ code: 3, stderr: expect.stringContaining('left 3 files') })
  })

  it('never writes outside of the folder, whatever the names are', async () => {
    left.set('../evil', 'x')
    expect(await get()).toMatchObject({ code: 1, stderr: expect.stringContaining('leads out of') })
    left.clear()
    left.set('way/x', 'x')
    await mkdir(join(home(), 'got'), { recursive: true })
    await symlink('/tmp', join(home(), 'got', 'way'))
    expect(await get()).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a folder there') })
  })
})
