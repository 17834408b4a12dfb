import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Client } from '@stoker/client'
import { openFileContent, packFolder, sha256File, unpackArchive } from '@stoker/files'
import type { Artifact, JobSpecInput } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { isLargeRun } from './harness/config.ts'
import { House } from './harness/house.ts'
import { ended, logOf } from './harness/jobs.ts'
import { residentBytes } from './harness/processes.ts'

const MB = 1_000_000
const OUTPUT_BYTES = isLargeRun ? 2 ** 31 : 200 * MB
const SLOW = { args: ['--bandwidth', '40MB/s'] }

let house: House

beforeEach(async () => {
  house = await House.open()
})

afterEach(async () => {
  await house.close()
})

async function send(client: Client, file: string): Promise<{ sha256: string; size: number }> {
  const content = await openFileContent(file)
  await client.uploadBlob(content)
  await content.close()
  return { sha256: content.sha256, size: content.size }
}

/** Waits until a transfer is under way: begun, and not nearly over. */
async function isUnderWay(client: Client, id: string, operation: string): Promise<void> {
  const look = async () => {
    const { progress } = await client.job(id)
    const percent = progress?.percent ?? 0
    return progress?.operation === operation && percent > 5 && percent < 90
  }
  await expect.poll(look, { timeout: 60_000, interval: 20 }).toBe(true)
}

async function artifactsOf(client: Client, id: string): Promise<Artifact[]> {
  const found: Artifact[] = []
  for await (const artifact of client.artifacts(id)) found.push(artifact)
  return found
}

it('brings a thousand files in and a large one out, bit for bit, through a hub that is killed while it takes them', async () => {
  const hub = await house.startHub()
  const { client } = house
  const worker = await house.startWorker('w', SLOW)
  const hash = createHash('sha256')
  await mkdir(house.path('src', 'data'), { recursive: true })
  for (let i = 0; i < 1000; i += 1) {
    const name = `data/${String(i).padStart(4, '0')}`
    await writeFile(house.path('src', name), `content of ${name}\n`)
    hash.update(`content of ${name}\n`)
  }
  const { sha256, size } = await packFolder(house.path('src'), house.path('src.tar'))
  expect(await send(client, house.path('src.tar'))).toEqual({ sha256, size })
  const command = `cat data/* | sha256sum; yes stoker | head -c ${OUTPUT_BYTES} > big.bin; sha256sum < big.bin`
  const outputs = ['big.bin', 'data']
  const { id } = await client.submit({ command, files: [{ path: '.', sha256, size, unpack: 'tar' }], outputs })
  await isUnderWay(client, id, 'uploading outputs')
  await hub.kill()
  await house.startHub()
  expect(await ended(client, id)).toMatchObject({ state: 'succeeded', attempts: 1, lost: 0 })
  const [inputs, big] = (await logOf(client, id)).split('\n').map(line => line.split(' ')[0])
  expect(inputs).toBe(hash.digest('hex'))
  const artifacts = await artifactsOf(client, id)
  expect(artifacts.length).toBe(1001)
  const found = artifacts.find(({ path }) => path === 'big.bin')
  if (found === undefined) throw new Error('big.bin was to be kept')
  expect(found).toMatchObject({ size: OUTPUT_BYTES, sha256: big })
  await client.downloadArtifact(id, found, house.path('big.bin'))
  expect(await sha256File(house.path('big.bin'))).toBe(big)
  expect(await residentBytes(worker.pid)).toBeLessThan(400 * MB)
  await writeTar(client, id, house.path('all.tar'))
  await unpackArchive(house.path('all.tar'), 'tar', house.path('all'))
  expect(await readFile(house.path('all', 'data', '0999'), 'utf8')).toBe('content of data/0999\n')
})

it('goes on with the same attempt when the worker is killed while it fetches and while it uploads', async () => {
  await house.startHub()
  const { client } = house
  const first = await house.startWorker('w', SLOW)
  const bytes = Buffer.alloc(100 * MB, 'stoker input ')
  await writeFile(house.path('input'), bytes)
  const input = await send(client, house.path('input'))
  const spec: JobSpecInput = {
    command: 'cp input out.bin; echo done >> out.bin',
    files: [{ path: 'input', ...input }],
    outputs: ['out.bin'],
  }
  const { id } = await client.submit(spec)
  await isUnderWay(client, id, 'fetching inputs')
  await first.kill()
  const second = await house.startWorker('w', { ...SLOW, joins: false })
  await isUnderWay(client, id, 'uploading outputs')
  await second.kill()
  await house.startWorker('w', { ...SLOW, joins: false })
  expect(await ended(client, id)).toMatchObject({ state: 'succeeded', attempts: 1, lost: 0 })
  const expected = createHash('sha256').update(bytes).update('done\n').digest('hex')
  expect(await artifactsOf(client, id)).toMatchObject([{ path: 'out.bin', sha256: expected, size: bytes.length + 5 }])
})

async function writeTar(client: Client, id: string, file: string): Promise<void> {
  await writeFile(file, client.artifactsTar(id))
}
