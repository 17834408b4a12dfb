import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockFolder, processStart } from '@stoker/files'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { engineFinding } from './devices.ts'
import { examineFolder } from './folder.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-doctor-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const about = async (check: string) => (await examineFolder(folder)).find(one => one.check === check)

const found = { kind: 'found', socket: '/s', engine: 'docker', version: '27.1', gpuRuntime: false } as const

test('an engine that cannot be used is told with what to do', () => {
  expect(engineFinding({ kind: 'absent' }, true)).toMatchObject({ level: 'ok' })
  expect(engineFinding({ kind: 'denied', socket: '/s' }, false)).toMatchObject({
    level: 'warn',
    todo: expect.stringContaining('usermod -aG docker'),
  })
  expect(engineFinding({ kind: 'silent', socket: '/s', why: 'nobody listens on it' }, false)).toMatchObject({
    level: 'warn',
    todo: 'systemctl start docker',
  })
})

test('an engine without a GPU runtime matters only where there is a GPU', () => {
  expect(engineFinding(found, false)).toMatchObject({ level: 'ok', text: 'docker 27.1 answers' })
  expect(engineFinding(found, true)).toMatchObject({ level: 'warn', todo: expect.stringContaining('nvidia-ctk') })
  expect(engineFinding({ ...found, gpuRuntime: true }, true)).toMatchObject({ level: 'ok' })
  expect(engineFinding({ ...found, engine: 'podman' }, true)).toMatchObject({ todo: 'use Docker for GPU jobs' })
})

test('a worker that runs on the folder is named by its process', async () => {
  expect(await about('worker')).toMatchObject({ level: 'ok', text: `no worker runs on ${folder} now` })
  const lock = await lockFolder(folder)
  expect(await about('worker')).toMatchObject({ text: expect.stringContaining(`as process ${process.pid}`) })
  await lock.release()
})

test('programs that go on without a worker are counted, ended ones are not', async () => {
  await mkdir(join(folder, 'run'))
  const record = { key: '1-1-1', pid: process.pid, start: await processStart(process.pid) }
  await writeFile(join(folder, 'run', 'k0.json'), JSON.stringify(record).padEnd(1023))
  await writeFile(join(folder, 'run', 'k1.json'), JSON.stringify({ ...record, start: '1' }))
  await writeFile(join(folder, 'run', 'k2.json'), '{}')
  expect(await about('keepers')).toMatchObject({ level: 'warn', text: expect.stringContaining('1 program goes on') })
})

test('a folder whose sockets would have too long a name is bad, before a worker fails there', async () => {
  const findings = await examineFolder(join(folder, 'x'.repeat(120)))
  expect(findings.find(one => one.check === 'path')).toMatchObject({ level: 'bad', todo: 'choose another with --data' })
})
