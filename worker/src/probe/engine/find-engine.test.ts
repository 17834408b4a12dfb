import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { engineProblem, findEngine } from './find-engine.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-engine-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const find = (socket: string, PATH = '') => findEngine({ engine: socket, env: { PATH } })

/** Something that says these words on a socket, whatever it is asked. */
async function withWords<T>(body: unknown, ask: (socket: string) => Promise<T>): Promise<T> {
  const socket = join(folder, 'engine.sock')
  const server = createServer((_, response) => response.end(typeof body === 'string' ? body : JSON.stringify(body)))
  await new Promise<void>(resolve => server.listen(socket, resolve))
  try {
    return await ask(socket)
  } finally {
    await new Promise(resolve => server.close(resolve))
  }
}

test('docker and podman are told apart, and podman never has GPUs', async () => {
  const nvidia = { Version: '27.1', Runtimes: { nvidia: {} } }
  expect(await withWords(nvidia, find)).toMatchObject({ engine: 'docker', version: '27.1', gpuRuntime: true })
  const podman = { ...nvidia, Components: [{ Name: 'Podman Engine' }] }
  expect(await withWords(podman, find)).toMatchObject({ engine: 'podman', gpuRuntime: false })
})

test('GPUs reach containers by a runtime, by CDI or by the hook beside the engine', async () => {
  const plain = { Version: '27.1', Runtimes: { runc: {} } }
  expect(await withWords(plain, find)).toMatchObject({ gpuRuntime: false })
  const cdi = { ...plain, DiscoveredDevices: [{ Source: 'cdi', ID: 'nvidia.com/gpu=0' }] }
  expect(await withWords(cdi, find)).toMatchObject({ gpuRuntime: true })
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'nvidia-container-runtime-hook'), '')
  expect(await withWords(plain, socket => find(socket, bin))).toMatchObject({ gpuRuntime: false })
  await chmod(join(bin, 'nvidia-container-runtime-hook'), 0o755)
  expect(await withWords(plain, socket => find(socket, bin))).toMatchObject({ gpuRuntime: true })
})

test('no socket, one nobody listens on and one that talks nonsense are told apart', async () => {
  const socket = join(folder, 'engine.sock')
  expect(await findEngine({ engine: null, env: { DOCKER_HOST: `unix://${socket}` } })).toEqual({ kind: 'absent' })
  expect(engineProblem(await find(socket))).toBe(
    `no containers: ${socket}: it does not exist; start the engine, or name another with --engine`,
  )
  expect(await withWords('<html>', find)).toMatchObject({ kind: 'silent', why: expect.stringContaining('answer') })
  await writeFile(socket, '')
  expect(engineProblem(await find(socket))).toMatch(/nobody listens on it|no usable answer/)
})

test('nothing is looked for when the owner wants none', async () => {
  expect(await withWords({ Version: '1' }, () => findEngine({ engine: 'none', env: {} }))).toEqual({ kind: 'absent' })
})
