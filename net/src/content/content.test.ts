import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fetchTransport } from '../../../client/src/fetch-transport.ts'
import { nodeTransport } from '../../../client/src/node-transport.ts'
import type { Transport } from '../../../client/src/transport.ts'
import { downloadContent } from './download.ts'
import type { ContentSend } from './port.ts'
import { type BlobHub, faults, startBlobHub } from './test-blob-hub.ts'
import { type TransferOptions, type UploadSource, uploadContent } from './upload.ts'

const MB = 1024 * 1024
const QUICK = { baseMs: 1, maxMs: 5 }
let hub: BlobHub
let folder: string
let transport: Transport

beforeEach(async () => {
  hub = await startBlobHub()
  folder = await mkdtemp(join(tmpdir(), 'stoker-content-'))
  transport = nodeTransport(hub.url)
})
afterEach(async () => {
  transport.close()
  await hub.close()
  await rm(folder, { recursive: true })
})

function sendOf(sha256: string, silenceMs = 20_000): ContentSend {
  return request =>
    transport.send({
      ...request,
      path: `/api/v1/blobs/${sha256}`,
      headers: { authorization: 'Bearer x', ...request.headers },
      silenceMs,
    })
}

function sourceOf(bytes: Buffer): UploadSource {
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    size: bytes.length,
    async *read(from, to) {
      for (let at = from; at < to; at += 65_536) yield bytes.subarray(at, Math.min(to, at + 65_536))
    },
  }
}

describe('an upload', () => {
  const upload = (source: UploadSource, options: TransferOptions = {}, silenceMs?: number) =>
    uploadContent(sendOf(source.sha256, silenceMs), source, { ...QUICK, pieceBytes: 8 * MB, ...options })

  it.each([0, 1, 100, 65_536, 8 * MB, 8 * MB + 1, 20 * MB])('of %i bytes arrives as it is', async size => {
    const bytes = randomBytes(size)
    const source = sourceOf(bytes)
    const told: number[] = []
    await upload(source, { onBytes: count => told.push(count) })
    expect(hub.blobs.get(source.sha256)?.equals(bytes)).toBe(true)
    expect(told.at(-1)).toBe(size)
  })

  it.each([
    ["Node's own", () => nodeTransport(hub.url)],
    ['a brought', () => fetchTransport(hub.url, fetch)],
  ])('by %s transport may take all its parts from the same buffer', async (_, open) => {
    const bytes = randomBytes(12 * MB)
    const source = sourceOf(bytes)
    const buffer = Buffer.alloc(MB)
    async function* read(from: number, to: number) {
      for (let at = from; at < to; at += MB) {
        buffer.fill(0)
        await turn()
        yield buffer.subarray(0, bytes.copy(buffer, 0, at, Math.min(to, at + MB)))
      }
    }
    transport.close()
    transport = open()
    await upload({ ...source, read })
    expect(hub.blobs.get(source.sha256)?.equals(bytes)).toBe(true)
  })

  it('sends nothing the other side has', async () => {
    const bytes = randomBytes(MB)
    hub.add(bytes)
    await upload(sourceOf(bytes))
    expect(hub.seen.map(({ method }) => method)).toEqual(['HEAD'])
  })

  it('goes on behind what is there after cuts, and sends no byte of it again', async () => {
    const bytes = randomBytes(18 * MB)
    const source = sourceOf(bytes)
    hub.fail(faults('PUT', null, { kind: 'cut', afterBytes: 3 * MB }, { kind: 'cut', afterBytes: 100 }))
    await upload(source)
    expect(hub.blobs.get(source.sha256)?.equals(bytes)).toBe(true)
    const starts = hub.seen.filter(({ method }) => method === 'PUT').map(({ headers }) => headers['content-range'])
    expect(starts.map(range => Number(/bytes (\d+)-/.exec(String(range))?.[1]))).toEqual([
      0,
      8 * MB,
      11 * MB,
      11 * MB + 100,
    ])
  })

  it('never gives up while every try brings it further', async () => {
    const source = sourceOf(randomBytes(MB))
    hub.fail(faults('PUT', ...Array.from({ length: 30 }, () => ({ kind: 'cut' as const, afterBytes: 10_000 }))))
    await upload(source, { maxAway: 2 })
    expect(hub.blobs.has(source.sha256)).toBe(true)
  })

  it('takes the place where the other side wants to go on, also when another uploader was faster', async () => {
    const bytes = randomBytes(100_000)
    const source = sourceOf(bytes)
    hub.partial.set(source.sha256, bytes.subarray(0, 70_000))
    await upload(source)
    const small = sourceOf(bytes.subarray(0, 1000))
    hub.partial.set(small.sha256, bytes.subarray(0, 10))
    await upload(small)
    expect(hub.blobs.size).toBe(2)
  })

  it('asks for the end where all bytes are there and only that is missing', async () => {
    for (const bytes of [randomBytes(1000), randomBytes(100_000)]) {
      const source = sourceOf(bytes)
      hub.partial.set(source.sha256, bytes)
      await upload(source)
      expect(hub.blobs.has(source.sha256)).toBe(true)
      expect(hub.seen.at(-1)?.headers['content-range']).toBe(`bytes */${bytes.length}`)
    }
  })

  it('waits for a hub that is away, starting or silent', async () => {
    const source = sourceOf(randomBytes(MB))
    hub.fail(faults('PUT', { kind: 'answer', status: 503 }, { kind: 'silent' }))
    await upload(source, {}, 300)
    expect(hub.blobs.has(source.sha256)).toBe(true)
    await hub.close()
    const away = upload(sourceOf(randomBytes(MB)), { onWait: () => void revive() })
    let revived: Promise<BlobHub> | null = null
    const revive = () => {
      revived ??= startBlobHub(hub.port)
    }
    await away
    hub = (await revived) ?? hub
    expect(hub.blobs.size).toBe(1)
  })

  it.each([
    ['a wrong hash', 422, 'upload.hash'],
    ['a stale attempt', 409, 'stale.attempt'],
    ['too large a content', 413, 'request.too_large'],
    ['no permission', 403, 'auth.forbidden'],
  ])('ends at once with %s', async (_, status, code) => {
    hub.fail(faults('PUT', { kind: 'answer', status, code }))
    await expect(upload(sourceOf(randomBytes(9 * MB)))).rejects.toMatchObject({ status, code })
  })

  it('gives up on a hub that answers and never takes anything, and on an absent one where told to', async () => {
    hub.fail(({ method }) => (method === 'PUT' ? { kind: 'cut', afterBytes: 0 } : null))
    await expect(upload(sourceOf(randomBytes(MB)))).rejects.toThrow()
    await hub.close()
    await expect(upload(sourceOf(randomBytes(MB)), { maxAway: 2 })).rejects.toThrow(/ECONNREFUSED/)
    hub = await startBlobHub(hub.port)
  })

  it('ends with the error of a source that cannot be read, and when it is aborted', async () => {
    const source = sourceOf(randomBytes(9 * MB))
    const broken = { ...source, read: () => failing() }
    await expect(upload(broken)).rejects.toThrow('the file changed')
    hub.fail(() => ({ kind: 'silent' }))
    const stop = new AbortController()
    const stopped = upload(source, { signal: stop.signal })
    setImmediate(() => stop.abort(new Error('canceled')))
    await expect(stopped).rejects.toThrow()
  })

  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(1000)
    throw new Error('the file changed')
  }
})

describe('a download', () => {
  const download = (content: { sha256: string; size: number }, options: TransferOptions = {}) =>
    downloadContent(sendOf(content.sha256, 300), content, join(folder, 'part'), { ...QUICK, ...options })
  const part = () => readFile(join(folder, 'part'))

  it.each([0, 1, 3 * MB])('of %i bytes arrives as it is', async size => {
    const bytes = randomBytes(size)
    await download(hub.add(bytes))
    expect((await part()).equals(bytes)).toBe(true)
  })

  it('goes on behind what came, over cuts, silence and a hub that starts, and after a crash', async () => {
    const bytes = randomBytes(5 * MB)
    const content = hub.add(bytes)
    await writeFile(join(folder, 'part'), bytes.subarray(0, MB))
    hub.fail(
      faults(
        'GET',
        { kind: 'cut', afterBytes: MB },
        { kind: 'silent' },
        { kind: 'answer', status: 503 },
        { kind: 'cut', afterBytes: 10 },
      ),
    )
    await download(content)
    expect((await part()).equals(bytes)).toBe(true)
    expect(hub.seen[0]?.headers.range).toBe(`bytes=${MB}-`)
    expect(hub.seen.at(-1)?.headers.range).toMatch(/^bytes=\d{7}-$/)
  })

  it('starts over when what is there is wrong or too long, and gives up when it comes wrong again', async () => {
    const bytes = randomBytes(MB)
    const content = hub.add(bytes)
    await writeFile(join(folder, 'part'), 'not the beginning')
    await download(content)
    await writeFile(join(folder, 'part'), Buffer.alloc(2 * MB))
    await download(content)
    expect((await part()).equals(bytes)).toBe(true)
    await rm(join(folder, 'part'))
    hub.fail(() => ({ kind: 'corrupt' }))
    await expect(download(content)).rejects.toThrow(/another hash/)
  })

  it('ends at once where there is no such content', async () => {
    await expect(download({ sha256: 'a'.repeat(64), size: 5 })).rejects.toMatchObject({ code: 'blob.not_found' })
  })
})
