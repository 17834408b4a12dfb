import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockFolder, processStart } from '@stoker/files'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { askDocker } from './ask-docker.ts'
import { examineFolder } from './folder.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-doctor-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const about = async (check: string) => (await examineFolder(folder)).find(one => one.check === check)

/** Something that answers on a socket as the engine would. */
async function withEngine<T>(body: string, ask: (socket: string) => Promise<T>): Promise<T> {
  const socket = join(folder, 'docker.sock')
  const server = createServer((_, response) => response.end(body))
  await new Promise<void>(resolve => server.listen(socket, resolve))
  try {
    return await ask(socket)
  } finally {
    await new Promise(resolve => server.close(resolve))
  }
}

test('a Docker engine is asked for its version and whether containers can have GPUs', async () => {
  const info = JSON.stringify({ ServerVersion: '27.1', Runtimes: { runc: {}, nvidia: {} } })
  expect(await withEngine(info, askDocker)).toEqual({ kind: 'answers', version: '27.1', hasNvidia: true })
  expect(await withEngine('{"ServerVersion":"27.1"}', askDocker)).toMatchObject({ hasNvidia: false })
})

test('no socket, one nobody listens on and one that talks nonsense are told apart', async () => {
  const socket = join(folder, 'docker.sock')
  expect(await askDocker(socket)).toEqual({ kind: 'absent' })
  expect(await withEngine('<html>', askDocker)).toMatchObject({
    kind: 'silent',
    why: expect.stringContaining('answer'),
  })
  await writeFile(socket, '')
  expect(await askDocker(socket)).toMatchObject({ kind: 'silent' })
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
