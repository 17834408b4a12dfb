import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { aJob, asJob, openStream, refuse, reply, sse } from '../../../client/src/test-hub.ts'
import { OUTPUT_SCHEMAS } from '../output/schemas.ts'
import { useTestHub } from '../test-terminal.ts'

const { hub, stoker, home } = useTestHub()
const NOW = '2026-01-01T00:00:00.000Z'
const CONFIG = 'project: {name: digits}\nresources: {gpu: 0}\n'
const bodies = new Map<string, string>()

const write = (files: Readonly<Record<string, string>>) =>
  Promise.all(
    Object.entries(files).map(async ([path, text]) => {
      await mkdir(join(project(), path, '..'), { recursive: true })
      await writeFile(join(project(), path), text)
    }),
  )
const project = () => join(home(), 'digits')
const inProject = (argv: readonly string[]) => stoker(argv, { folder: project() })
const specs = () => [...hub().jobs.values()].map(({ spec }) => spec)

beforeEach(async () => {
  bodies.clear()
  await mkdir(project())
  hub().on('GET /api/v1/workers', (_, response) => reply(response, 200, { workers: [] }))
  hub().on(
    'HEAD /api/v1/blobs/:id',
    (_, response, id) => void response.writeHead(bodies.has(id) ? 200 : 404, { 'upload-offset': 0 }).end(),
  )
  hub().on('PUT /api/v1/blobs/:id', ({ body }, response, id) => {
    const isWhole = createHash('sha256').update(body).digest('hex') === id
    bodies.set(id, body)
    reply(response, isWhole ? 201 : 422, { sha256: id, size: body.length })
  })
  hub().on('GET /api/v1/jobs/:id/artifacts', (_, response) => reply(response, 200, { artifacts: [], bytes: 0 }))
  hub().on('GET /api/v1/jobs/:id/events', (_, response, id) => {
    openStream(response)
    const job = { ...asJob(hub().jobs.get(id) ?? aJob()), state: 'failed', exitCode: 7, reason: 'exited with code 7' }
    response.end(sse('end', job))
  })
})

describe('stoker init', () => {
  it('writes the documented configuration and a script that runs, and replaces nothing', async () => {
    const { code, stdout } = await inProject(['init'])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('trainforge.yaml, train.py, requirem'),
    })
    const config = await readFile(join(project(), 'trainforge.yaml'), 'utf8')
    for (const line of [
      'name: "digits"',
      'script: train.py',
      'gpu: 1 ',
      'cpu: 2',
      'memory: 4Gi',
      'python_version: "3.9"',
      'base_image: pytorch/pytorch:latest',
    ])
      expect(config).toContain(line)
    await writeFile(join(project(), 'train.py'), 'mine')
    expect(await inProject(['init'])).toMatchObject({ code: 1, stderr: expect.stringContaining('is there already') })
    const forced = await inProject(['init', '--force', '--name', 'other', '--json'])
    expect(OUTPUT_SCHEMAS.init.parse(JSON.parse(forced.stdout))).toMatchObject({
      name: 'other',
      files: ['trainforge.yaml'],
    })
    expect(await readFile(join(project(), 'train.py'), 'utf8')).toBe('mine')
    expect((await inProject(['init', '-f', '-n', ' '])).code).toBe(2)
  })

  it('asks for no GPU where the hub surely has none', async () => {
    const gpus = { total: 0, claimed: 0, out: 0 }
    const worker = {
      id: 'w',
      name: 'w',
      state: 'ready',
      version: '1',
      tags: [],
      maxJobs: 1,
      running: 0,
      cpus: { total: 1, claimed: 0 },
      memoryBytes: { total: 1, claimed: 0 },
      gpus,
      simulated: false,
      dialect: 'native',
      engine: null,
      registeredAt: NOW,
      lastSeenAt: NOW,
    }
    hub().on('GET /api/v1/workers', (_, response) => reply(response, 200, { workers: [worker] }))
    await inProject(['init'])
    expect(await readFile(join(project(), 'trainforge.yaml'), 'utf8')).toContain('gpu: 0 ')
  })
})

describe('stoker push', () => {
  it('sends what belongs to the project, by whole names, and submits it', async () => {
    await write({
      'trainforge.yaml': `${CONFIG}extra: 1\n`,
      'train.py': 'print(1)',
      'requirements.txt': 'six\n-r more.txt',
      'more.txt': 'idna',
      '.env': 'SECRET=1',
      'venv/x': 'x',
      'src/__pycache__/a.pyc': 'x',
      'b.pyc': 'x',
      'myvenv/keep.py': 'kept',
      '.stokerignore': 'data',
      'data/big': 'x',
    })
    const { code, stdout, stderr } = await inProject(['push'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'warning: extra is not known and changes nothing\n' })
    expect(stdout).toMatch(
      /project +digits\nscript +train.py\nasks for +0 GPUs, 2 CPUs, 4.3 GB\npackages +six, idna\nsent +6 files/,
    )
    const [spec] = specs()
    expect(spec).toMatchObject({
      name: 'digits',
      command: ['python3', 'train.py'],
      files: [{ path: '.', unpack: 'tar' }],
      environment: { requirements: 'six\nidna' },
      labels: { project: 'digits' },
    })
    const sent = bodies.get(spec?.files[0]?.sha256 ?? '') ?? ''
    expect(sent).toContain('myvenv/keep.py')
    for (const name of ['SECRET=1', '__pycache__/', 'b.pyc', 'data/big']) expect(sent).not.toContain(name)
  })

  it('sends the same archive as long as nothing changes, and prints its published form', async () => {
    await write({ 'trainforge.yaml': CONFIG, 'train.py': '' })
    await inProject(['push', '--quiet'])
    const { stdout } = await inProject(['push', '--json'])
    expect(OUTPUT_SCHEMAS.push.parse(JSON.parse(stdout))).toMatchObject({ project: 'digits', sent: { files: 2 } })
    expect(bodies.size).toBe(1)
  })

  it('follows the job when asked, and ends as it did', async () => {
    await write({ 'trainforge.yaml': CONFIG, 'train.py': '' })
    const { code, stdout } = await stoker([
      'push',
      '-p',
      'digits',
      '-c',
      'digits/trainforge.yaml',
      '--follow',
      '--json',
    ])
    expect(code).toBe(7)
    expect(OUTPUT_SCHEMAS.run.parse(JSON.parse(stdout))).toMatchObject({ exitCode: 7 })
  })

  it('takes a name, resources and workers from the command line', async () => {
    await write({ 'trainforge.yaml': CONFIG, 'train.py': '' })
    await stoker(['submit', 'digits', '-n', 'other', '-r', '{"gpu": 0, "cpu": 1}', '-w', '3'])
    expect(specs()[0]).toMatchObject({ name: 'other', ranks: 3, resources: { cpus: 3 } })
    expect((await inProject(['push', '-r', '[1]'])).code).toBe(2)
  })

  it('runs without its image where no worker can have it, and says so', async () => {
    await write({ 'trainforge.yaml': `${CONFIG}environment: {base_image: "python:3.11"}\n`, 'train.py': '' })
    const accept = hub().answerOf('POST /api/v1/jobs')
    hub().on('POST /api/v1/jobs', (request, response, id) =>
      request.body.includes('"image"')
        ? refuse(response, 'job.unschedulable', 'needs a container engine, box has none')
        : accept(request, response, id),
    )
    const { stderr } = await inProject(['push'])
    expect(stderr).toBe('warning: it runs without its image python:3.11: needs a container engine, box has none\n')
    expect(specs()[0]?.container).toBeNull()
    hub().on('POST /api/v1/jobs', accept)
    await inProject(['push'])
    expect(specs()[1]?.container?.image).toBe('python:3.11')
    await inProject(['push', '--no-container'])
    expect(specs()[2]?.container).toBeNull()
  })

  it('refuses what should run as several and fits nowhere', async () => {
    await write({ 'trainforge.yaml': 'project: {name: n}\ndistributed: {max_workers: 2}\n', 'train.py': '' })
    expect(await inProject(['push'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('largest worker has 0'),
    })
  })

  it('guesses the GPU of a flat project from its sources', async () => {
    await write({ 'trainforge.yaml': 'name: n\nrun: python a.py --x 1\n', 'a.py': '', 'lib/b.py': 'import torch' })
    const { stderr } = await inProject(['push'])
    expect(stderr).toContain('no resources are given: 1 GPU, because its sources import torch')
    expect(specs()[0]).toMatchObject({ command: ['python3', 'a.py', '--x', '1'], resources: { gpus: 1 } })
  })

  it.each([
    [{}, 'has no trainforge.yaml'],
    [{ 'trainforge.yaml': CONFIG }, 'the script is train.py'],
    [
      { 'trainforge.yaml': 'project: {name: n}\nresources:\n  gpu: lots\n' },
      'trainforge.yaml:3:8: resources.gpu: found "lots"',
    ],
    [{ 'trainforge.yaml': 'project: [\n' }, 'is not valid YAML'],
    [
      { 'trainforge.yaml': `${CONFIG}training: {requirements: x.txt}\n`, 'train.py': '' },
      'x.txt: the project has no such file',
    ],
    [{ 'trainforge.yaml': CONFIG, 'train.py': '', 'requirements.txt': '-e .' }, 'requirements.txt: found "-e ."'],
  ])('refuses %j before anything is sent', async (files, message) => {
    await write(files as Record<string, string>)
    expect(await inProject(['push'])).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
    expect(hub().seen).toEqual([])
  })
})

it('results are artifacts get under another name', async () => {
  const job = aJob({ state: 'succeeded' })
  hub().jobs.set(job.id, job)
  const { code, stdout } = await inProject(['results', job.id, '-o', 'here', '--json'])
  expect(code).toBe(0)
  expect(OUTPUT_SCHEMAS.results.parse(JSON.parse(stdout))).toEqual({ folder: join(project(), 'here'), files: [] })
})
