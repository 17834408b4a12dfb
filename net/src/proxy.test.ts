import { expect, test } from 'vitest'
import { proxyFor } from './proxy.ts'

const PROXY = 'http://proxy:3128'

test.each([
  ['https://hub:7443', { HTTPS_PROXY: PROXY }, 'proxy:3128'],
  ['https://hub:7443', { https_proxy: 'proxy:3128' }, 'proxy:3128'],
  ['https://hub:7443', { HTTP_PROXY: PROXY }, null],
  ['http://hub:7070', { HTTP_PROXY: PROXY }, 'proxy:3128'],
  ['https://hub:7443', { ALL_PROXY: PROXY }, 'proxy:3128'],
  ['https://hub:7443', { HTTPS_PROXY: '' }, null],
  ['https://hub:7443', {}, null],
  ['https://127.0.0.1:7443', { HTTPS_PROXY: PROXY }, null],
  ['https://[::1]:7443', { HTTPS_PROXY: PROXY }, null],
  ['http://localhost:7070', { HTTP_PROXY: PROXY }, null],
  ['https://hub.lab.example:7443', { HTTPS_PROXY: PROXY, NO_PROXY: 'other, .lab.example' }, null],
  ['https://hub.lab.example:7443', { HTTPS_PROXY: PROXY, no_proxy: '*' }, null],
  ['https://hub.lab.example:7443', { HTTPS_PROXY: PROXY, NO_PROXY: 'hub.lab.example:7443' }, null],
  ['https://hub.lab.example:7443', { HTTPS_PROXY: PROXY, NO_PROXY: 'hub.lab.example:443,lab' }, 'proxy:3128'],
])('the way to %s with %j leads through %s', (url, env, host) => {
  expect(proxyFor(url, env)?.host ?? null).toBe(host)
})

test('a proxy that is asked for by name is used everywhere, and only an http one can be', () => {
  expect(proxyFor('https://127.0.0.1:1', { NO_PROXY: '*' }, PROXY)?.host).toBe('proxy:3128')
  expect(() => proxyFor('https://hub', {}, 'socks5://x:1')).toThrow('found socks5:')
  expect(() => proxyFor('https://hub', {}, 'http://')).toThrow('found no address')
})
