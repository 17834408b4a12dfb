import { expect, it } from 'vitest'
import { foreignConfig } from './foreign-config.ts'

const IDENTITY = 'A'.repeat(60)

it('is nobody where a hub of our own is named', () => {
  expect(foreignConfig({ hub: 'http://h' }, undefined)).toBeNull()
})

it('has the documented defaults for a QUBIX backend', () => {
  expect(foreignConfig({ backend: 'http://127.0.0.1:3001' }, undefined)).toEqual({
    ...{ dialect: 'qubix', url: 'http://127.0.0.1:3001', login: null, pricePerHour: 5, name: null, address: null },
    ...{ location: 'Local Network', progressMs: 10_000, uploadUrl: null },
  })
})

it('takes all that can be said of a backend', () => {
  const more = { price: '0.25', name: 'x', location: 'y', address: IDENTITY, 'progress-interval': '2.5' }
  expect(
    foreignConfig({ backend: 'https://b/t/secret/', 'upload-url': 'https://u/x/', ...more }, undefined),
  ).toMatchObject({
    ...{ url: 'https://b/t/secret', pricePerHour: 0.25, name: 'x', location: 'y', address: IDENTITY },
    ...{ progressMs: 2500, uploadUrl: 'https://u/x' },
  })
})

it('keeps a login apart from the address, and prefers the one of the environment', () => {
  const given = { scheduler: 'http://worker:TO%2FKEN@h:3000/pfx' }
  expect(foreignConfig(given, undefined)).toEqual({
    ...{ dialect: 'trainforge', url: 'http://h:3000/pfx', login: 'worker:TO/KEN', workerId: null },
  })
  expect(foreignConfig(given, 'a:b')).toMatchObject({ login: 'a:b' })
})

it.each([
  [{ backend: 'b:3001' }, '--backend is an http or https address'],
  [{ scheduler: '' }, '--scheduler is an http or https address'],
  [{ backend: 'http://b', hub: 'http://h' }, 'a worker serves one hub, found --hub and --backend'],
  [{ backend: 'http://b', price: '-1' }, '--price is a number from 0'],
  [{ backend: 'http://b', price: '' }, '--price is a number from 0'],
  [{ backend: 'http://b', 'progress-interval': '0' }, '--progress-interval is a number'],
  [{ backend: 'http://b', address: 'a'.repeat(60) }, '--address has 60 letters'],
  [{ backend: 'http://b', 'upload-url': 's3://x' }, '--upload-url is an http or https address'],
  [{ backend: 'http://b', 'simulate-gpus': '1x8GB' }, '--simulate-gpus is for hubs that can say so'],
  [{ scheduler: 'http://s', 'worker-id': 'job-status' }, '--worker-id is a name'],
  [{ scheduler: 'http://s', 'worker-id': 'a\nb' }, '--worker-id is a name'],
  [{ scheduler: 'http://s', 'worker-id': 'x'.repeat(201) }, '--worker-id is a name'],
])('refuses %j', (values, sentence) => {
  expect(() => foreignConfig(values, undefined)).toThrow(sentence)
})
