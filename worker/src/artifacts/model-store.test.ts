import { mkdir, mkdtemp, readdir, readFile, stat, symlink } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree, sha256 } from '@stoker/files'
import type { Model } from '@stoker/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ModelAbsent, ModelStore, type ModelStoreOptions } from './model-store.ts'

const WEIGHTS = Buffer.alloc(300_000, 'weights ')
let base: string
let server: Server
let host: string
/** Ranges that were asked for; a connection is broken after so many bytes. */
let ranges: (string | undefined)[] = []
let breakAfter: number | null = null
let tellsSize = true

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'stoker-models-'))
  for (const name of ['models', 'empty', 'allowed']) await mkdir(join(base, name))
  ranges = []
  breakAfter = null
  tellsSize = true
  server = createServer((request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    if (request.method === 'GET') ranges.push(request.headers.range)
    const rest = WEIGHTS.subarray(from)
    const size = tellsSize ? { 'content-length': rest.length } : {}
    const range = from === 0 ? {} : { 'content-range': `bytes ${from}-${WEIGHTS.length - 1}/${WEIGHTS.length}` }
    response.writeHead(from === 0 ? 200 : 206, { ...size, ...range })
    if (request.method === 'HEAD') return void response.end()
    if (breakAfter === null) return void response.end(rest)
    response.write(rest.subarray(0, breakAfter), () => setImmediate(() => response.destroy()))
    breakAfter = null
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  await removeTree(base)
})

function aStore(more: Partial<ModelStoreOptions> = {}): ModelStore {
  const folders = { folder: join(base, 'models'), emptyFolder: join(base, 'empty') }
  return new ModelStore({
    ...folders,
    ...{ allowedFolders: [join(base, 'allowed')], privateHosts: [host], reserveBytes: 0, ...more },
  })
}

const aModel = (more: Partial<Model> = {}): Model => ({ name: 'tiny', path: null, files: [], ...more })
const file = (more: object = {}) => ({
  ...{ path: 'deep/weights.bin', url: `http://${host}/w`, sha256: sha256(WEIGHTS), size: WEIGHTS.length, ...more },
})
const shown: [number, number][] = []
const watch = (more: object = {}) => ({
  signal: new AbortController().signal,
  onBytes: (here: number, all: number) => void shown.push([here, all]),
  ...more,
})

describe('a model that its owner put there', () => {
  it('is found by its name, or by a path below the store or an allowed folder', async () => {
    await mkdir(join(base, 'models', 'llama'))
    await mkdir(join(base, 'allowed', 'mine'))
    const store = aStore()
    expect(await store.folderOf(aModel({ name: 'llama' }), watch())).toBe(join(base, 'models', 'llama'))
    const path = join(base, 'allowed', 'mine')
    expect(await store.folderOf(aModel({ path }), watch())).toBe(path)
  })

  it('is nowhere else, whatever links say', async () => {
    await symlink('/etc', join(base, 'allowed', 'link'))
    const store = aStore()
    await expect(store.folderOf(aModel({ path: join(base, 'allowed', 'link') }), watch())).rejects.toThrow(
      /model tiny is at \/etc, this worker gives models below .*models, .*allowed only/,
    )
    await expect(store.folderOf(aModel({ path: '/etc' }), watch())).rejects.toThrow(ModelAbsent)
    await expect(store.folderOf(aModel({ path: join(base, 'allowed', 'no') }), watch())).rejects.toThrow(
      /is expected at .*no, this worker has no such folder/,
    )
  })

  it('is an empty folder when only a name is known', async () => {
    expect(await aStore().folderOf(aModel({ name: '../../etc' }), watch())).toBe(join(base, 'empty'))
  })
})

describe('a model that is fetched', () => {
  it('comes once for all who want it, checked, readable by all and written by nobody', async () => {
    const store = aStore()
    const model = aModel({ files: [file()] })
    shown.length = 0
    const folders = await Promise.all([1, 2, 3].map(() => store.folderOf(model, watch())))
    expect(new Set(folders).size).toBe(1)
    expect(ranges).toEqual([undefined])
    const weights = join(folders[0] ?? '', 'deep', 'weights.bin')
    expect(await readFile(weights)).toEqual(WEIGHTS)
    expect((await stat(weights)).mode & 0o777).toBe(0o444)
    const whole = shown.filter(([here, all]) => here === all).length
    expect([whole > 0, whole % 3]).toEqual([true, 0])
    expect(await aStore().folderOf(model, watch())).toBe(folders[0])
    expect(ranges).toEqual([undefined])
  })

  it('goes on where it broke off, also in another process', async () => {
    breakAfter = 100_000
    const model = aModel({ files: [file()] })
    await aStore().folderOf(model, watch())
    expect(ranges).toHaveLength(2)
    expect(ranges[1]).toMatch(/^bytes=\d+-$/)
  })

  it('may leave out its size where the server tells it', async () => {
    const { size: _, ...unsized } = file()
    await aStore().folderOf(aModel({ files: [unsized] }), watch())
    tellsSize = false
    const other = { ...unsized, path: 'other' }
    await expect(aStore().folderOf(aModel({ files: [other] }), watch())).rejects.toThrow(/say it as "size"/)
  })

  it('is refused when its content is another', async () => {
    const wrong = file({ sha256: sha256('other') })
    await expect(aStore().folderOf(aModel({ files: [wrong] }), watch())).rejects.toThrow(/another hash/)
    expect((await readdir(join(base, 'models'))).filter(name => !name.startsWith('.'))).toEqual([])
  })

  it('is refused before a byte comes when the disk has too little room', async () => {
    const store = aStore({ reserveBytes: 1e18 })
    await expect(store.folderOf(aModel({ files: [file()] }), watch())).rejects.toThrow(
      /model tiny needs 300 kB and .* to spare, the worker's disk has/,
    )
    expect(ranges).toEqual([])
  })

  it('is not fetched where the owner wants none fetched, and given where it is', async () => {
    const model = aModel({ files: [file()] })
    await expect(aStore({ fetches: false }).folderOf(model, watch())).rejects.toThrow(
      'model tiny is not on this worker, whose owner lets it fetch none (AUTO_FETCH_MODELS)',
    )
    expect(ranges).toEqual([])
    const folder = await aStore().folderOf(model, watch())
    expect(await aStore({ fetches: false }).folderOf(model, watch())).toBe(folder)
  })

  it('is not fetched from a private network unless the owner named the host', async () => {
    const store = aStore({ privateHosts: [] })
    await expect(store.folderOf(aModel({ files: [file()] }), watch())).rejects.toThrow(
      /weights.bin of model tiny could not be fetched: only public addresses may be fetched/,
    )
    expect(ranges).toEqual([])
  })

  it('is taken over by another when the one who fetched it was stopped', async () => {
    const store = aStore()
    const model = aModel({ files: [file()] })
    const stop = new AbortController()
    const onBytes = (here: number) => void (here > 0 && here < WEIGHTS.length && stop.abort(new Error('stopped')))
    const first = store.folderOf(model, watch({ signal: stop.signal, onBytes }))
    const second = store.folderOf(model, watch())
    await Promise.allSettled([first])
    expect(await readFile(join(await second, 'deep', 'weights.bin'))).toEqual(WEIGHTS)
  })
})
