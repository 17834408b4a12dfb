import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { request } from 'node:https'
import { type AddressInfo, createServer as createTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { trustedAgent } from '@stoker/net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ownCertificate, readCertificate, selfSign } from './certificate.ts'
import { nameOf, parseListenAddress } from './listen-address.ts'
import { Listeners } from './listeners.ts'
import { rememberedIn } from './remembered.ts'

let folder: string
const open: Listeners[] = []
const warnings: string[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-listeners-'))
  warnings.length = 0
})
afterEach(async () => {
  for (const one of open.splice(0)) await one.closeAll()
  expect(attached.splice(0).filter(server => server.listening)).toEqual([])
  await rm(folder, { recursive: true, force: true })
})

const attached: Server[] = []
const reception = {
  options: {},
  request: (_: unknown, reply: { end(text: string): void }) => reply.end('answered'),
  broken: (_: Error, socket: { destroy(): void }) => void socket.destroy(),
  attach: (server: Server) => void attached.push(server),
}

async function start(urls: readonly string[] = [], insecure = false): Promise<Listeners> {
  const listeners = new Listeners({
    certificate: () => ownCertificate(folder, Date.now),
    insecure,
    remembered: rememberedIn(folder),
    log: (level, text) => level === 'warn' && warnings.push(text),
  })
  open.push(listeners)
  await listeners.start(reception, 'http://127.0.0.1:7070', urls)
  return listeners
}

async function fetchPinned(url: string, pin: string | null): Promise<string> {
  const agent = trustedAgent(true, { pin: pin ?? undefined })
  const call = request(url, { agent })
  call.end()
  try {
    const [reply] = await once(call, 'response')
    let text = ''
    for await (const part of reply) text += part
    return text
  } finally {
    agent.destroy()
  }
}

describe('listeners', () => {
  test('one that a call opens answers at once, is there after a restart, and gone for good when closed', async () => {
    const first = await start()
    const made = await first.open('https://127.0.0.1:0')
    expect(made).toMatchObject({ remembered: true, selfSigned: true, error: null })
    expect(await fetchPinned(made.url, made.pin)).toBe('answered')
    expect(attached.at(-1)?.listening).toBe(true)
    expect(await first.open(made.url)).toEqual(made)
    await first.closeAll()
    const second = await start()
    expect(second.list().listeners.map(one => one.name)).toEqual(['127.0.0.1:7070', made.name])
    expect(await fetchPinned(made.url, made.pin)).toBe('answered')
    await second.close(made.name)
    await expect(fetchPinned(made.url, made.pin)).rejects.toThrow('ECONNREFUSED')
    expect((await start()).list().listeners).toHaveLength(1)
  })

  test('the same address asked for twice at once is opened once', async () => {
    const listeners = await start()
    const port = (await listeners.open('https://127.0.0.1:0')).name.split(':')[1]
    await listeners.close(`127.0.0.1:${port}`)
    const url = `https://127.0.0.1:${port}`
    const [a, b] = await Promise.all([listeners.open(url), listeners.open(url)])
    expect(a).toEqual(b)
    expect(listeners.list().listeners).toHaveLength(2)
  })

  test('a remembered one that cannot be opened is told and kept, and the hub starts', async () => {
    const taken = createTcp().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const url = `https://127.0.0.1:${(taken.address() as AddressInfo).port}`
    await writeFile(join(folder, 'listeners.json'), JSON.stringify({ listeners: [url, 'https://203.0.113.9:1'] }))
    const listeners = await start()
    expect(listeners.list().listeners.map(one => one.error)).toEqual([
      null,
      expect.stringContaining('another program listens there'),
      expect.stringContaining('this machine has no such address'),
    ])
    expect(warnings).toHaveLength(2)
    taken.close()
    await once(taken, 'close')
    expect((await listeners.open(url)).error).toBeNull()
    await listeners.close('203.0.113.9:1')
    expect(JSON.parse(await readFile(join(folder, 'listeners.json'), 'utf8'))).toEqual({ listeners: [url] })
  })

  test('one of the command line stays until the hub ends, and must open', async () => {
    const listeners = await start(['https://127.0.0.1:0'])
    const { name } = listeners.list().listeners[1] ?? { name: '' }
    await expect(listeners.close(name)).rejects.toMatchObject({ code: 'listener.fixed' })
    await expect(listeners.close('1.2.3.4:5')).rejects.toMatchObject({ code: 'listener.not_found' })
    await expect(start(['https://203.0.113.9:1'])).rejects.toMatchObject({ code: 'listener.unusable' })
  })

  test('plain HTTP stays on the loopback unless the owner says otherwise', async () => {
    const careful = await start()
    await expect(careful.open('http://0.0.0.0:0')).rejects.toThrow(/plain HTTP shows tokens/)
    expect(await careful.open('http://127.0.0.1:0')).toMatchObject({ pin: null, selfSigned: false })
    const careless = await start([], true)
    const { url, name } = await careless.open('http://0.0.0.0:0')
    expect(await (await fetch(url.replace('0.0.0.0', '127.0.0.1'))).text()).toBe('answered')
    await careless.close(name)
  })
})

test.each(['', 'x', '7443', 'ftp://a:1', 'https://a:1/path', 'https://u:p@a:1', 'https://a:1?b', 'https://a:99999'])(
  '%j is no address to listen on',
  text => {
    expect(() => parseListenAddress(text, { insecure: true })).toThrow(/looks like https:\/\/0.0.0.0:7443/)
  },
)

test('an address is read with its implied port and named with its port', () => {
  expect(nameOf(parseListenAddress('https://hub.example', { insecure: false }))).toBe('hub.example:443')
  expect(nameOf(parseListenAddress('https://[::]:7443/', { insecure: false }))).toBe('[::]:7443')
  expect(nameOf(parseListenAddress('https://hub.example:443', { insecure: false }))).toBe('hub.example:443')
})

describe('a certificate', () => {
  test('is made once, for ten years, with this machine in it, and its key is for the owner only', async () => {
    const made = await ownCertificate(folder, Date.now)
    expect(await ownCertificate(folder, Date.now)).toEqual(made)
    const parsed = new X509Certificate(made.cert)
    expect(Date.parse(parsed.validTo) - Date.now()).toBeGreaterThan(3650 * 24 * 3600_000)
    expect(parsed.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(parsed.checkHost('localhost')).toBe('localhost')
    expect(parsed.publicKey.asymmetricKeyDetails).toMatchObject({ namedCurve: 'prime256v1' })
    expect(((await stat(join(folder, 'tls', 'key.pem'))).mode & 0o777).toString(8)).toBe('600')
  })

  test('whose key is another one, or that is no certificate, is refused with the files', async () => {
    const [a, b] = [await selfSign(Date.now()), await selfSign(Date.now())]
    const [cert, key] = [join(folder, 'c.pem'), join(folder, 'k.pem')]
    await writeFile(cert, a.cert)
    await writeFile(key, b.key)
    await expect(readCertificate(cert, key)).rejects.toThrow('the key belongs to another certificate')
    await writeFile(cert, 'nonsense')
    await expect(readCertificate(cert, key)).rejects.toThrow(`${cert} and ${key} should hold`)
  })
})
