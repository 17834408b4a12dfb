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

test('a hub refuses to listen in plain HTTP where others can reach it, before it touches its folder', async () => {
  const options = { folder: '/nonexistent/hub', port: 0, log: () => {}, broken: () => {} }
  for (const host of ['0.0.0.0', '::', '192.168.1.1', 'hub.example'])
    await expect(startHub({ ...options, host })).rejects.toThrow(/start the hub with --insecure/)
})
