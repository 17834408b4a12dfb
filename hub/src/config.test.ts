import { expect, test } from 'vitest'
import { readCommand } from './config.ts'
import { startHub } from './hub.ts'

const serve = (...more: string[]) => readCommand(['serve', '--data', 'd', ...more])

test('words about TLS without an address mean the usual one', () => {
  expect(serve()).toMatchObject({ listen: [], tls: undefined, insecure: false })
  expect(serve('--tls', 'self-signed')).toMatchObject({ listen: ['https://0.0.0.0:7443'], tls: undefined })
  expect(serve('--tls-cert', 'c', '--tls-key', 'k')).toMatchObject({
    listen: ['https://0.0.0.0:7443'],
    tls: { cert: 'c', key: 'k' },
  })
  expect(serve('--listen', 'https://[::]:1', '--listen', 'https://h:2', '--tls', 'self-signed')).toMatchObject({
    listen: ['https://[::]:1', 'https://h:2'],
  })
})

test.each([
  [['--tls', 'on'], '--tls is "self-signed", found "on"'],
  [['--tls-cert', 'c'], 'found only the certificate'],
  [['--tls-key', 'k'], 'found only the key'],
  [['--tls', 'self-signed', '--tls-cert', 'c', '--tls-key', 'k'], 'found both'],
])('%j is refused', (words, why) => {
  expect(() => serve(...words)).toThrow(why)
})

test('presets are beside the data unless told otherwise, with the settings of the environment', () => {
  expect(readCommand(['serve', '--data', '/d'], { MAX_TASK_TIMEOUT: '60', DEFAULT_TASK_TIMEOUT: '30' })).toMatchObject({
    presets: { folder: '/d/presets', settings: { maxTimeoutMs: 60_000 } },
  })
  expect(readCommand(['serve', '--data', '/d', '--presets', '/p'], {})).toMatchObject({ presets: { folder: '/p' } })
  expect(() => readCommand(['serve', '--data', '/d'], { TASK_CPU_QUOTA: 'all' })).toThrow('found "all"')
  expect(readCommand(['check-presets', '--presets', '/p', '--json'], {})).toMatchObject({ form: 'json' })
})

test('what becomes of tasks whose client left is a setting of the environment', () => {
  const choice = (text?: string) => readCommand(['serve', '--data', 'd'], { STOKER_OPENAI_ON_DISCONNECT: text })
  expect(choice()).toMatchObject({ openaiOnDisconnect: 'cancel' })
  expect(choice('keep')).toMatchObject({ openaiOnDisconnect: 'keep' })
  expect(() => choice('maybe')).toThrow('cancel or keep, found "maybe"')
})

test('QUBIX has a port of its own when the command line or the environment says so', () => {
  expect(serve()).toMatchObject({ qubixPort: undefined, qubixOpen: false })
  expect(serve('--qubix-port', '3001', '--qubix-open')).toMatchObject({ qubixPort: 3001, qubixOpen: true })
  const env = { STOKER_QUBIX_PORT: '3002', STOKER_QUBIX_OPEN: '1' }
  expect(readCommand(['serve', '--data', 'd'], env)).toMatchObject({ qubixPort: 3002, qubixOpen: true })
  expect(() => serve('--qubix-port', 'x')).toThrow('--qubix-port is a whole number from 0 to 65535, found x')
  expect(() => readCommand(['serve', '--data', 'd'], { STOKER_QUBIX_OPEN: 'yes' })).toThrow('is 1 or 0, found "yes"')
})

test('TrainForge has a port, an open door or a second folder only when asked', () => {
  const trainforge = (words: string[], env = {}) => readCommand(['serve', '--data', '/d', ...words], env)
  expect(trainforge([])).toMatchObject({ trainforge: { port: undefined, isOpen: false, filesFolder: undefined } })
  const words = ['--trainforge-port', '3000', '--trainforge-open', '--legacy-files-dir', '/tmp/trainforge']
  const all = { port: 3000, isOpen: true, filesFolder: '/tmp/trainforge' }
  expect(trainforge(words)).toMatchObject({ trainforge: all })
  const env = {
    STOKER_TRAINFORGE_PORT: '3000',
    STOKER_TRAINFORGE_OPEN: '1',
    STOKER_LEGACY_FILES_DIR: '/tmp/trainforge',
  }
  expect(trainforge([], env)).toMatchObject({ trainforge: all })
  expect(() => trainforge(['--trainforge-port', 'x'])).toThrow('--trainforge-port is a whole number')
})

test('a hub refuses to listen in plain HTTP where others can reach it, before it touches its folder', async () => {
  const options = { folder: '/nonexistent/hub', port: 0, log: () => {}, broken: () => {} }
  for (const host of ['0.0.0.0', '::', '192.168.1.1', 'hub.example'])
    await expect(startHub({ ...options, host })).rejects.toThrow(/start the hub with --insecure/)
})
