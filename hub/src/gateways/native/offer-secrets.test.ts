import type { Duplex } from 'node:stream'
import { type JobSpec, type Offer, parseJobSpec, type SecretRow } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { emptyState } from '../../engine/state.ts'
import { linkPrivacy } from './link-privacy.ts'
import { type SecretPorts, withSecrets } from './offer-secrets.ts'

const ROW: SecretRow = { owner: 'ada', name: 'KEY', bytes: 5, sealed: 'sealed', createdAt: 1, changedAt: 1 }
const PRIVATE = { isPrivate: true, from: '127.0.0.1' }

function specOf(secrets: string[]): JobSpec {
  const parsed = parseJobSpec({ command: 'true', secrets })
  if (!parsed.ok) throw new Error('a test spec is valid')
  return parsed.spec
}

const anOffer = (secrets: string[]): Offer => ({
  fence: { job: 7, epoch: 1, attempt: 1 },
  id: 'x',
  spec: specOf(secrets),
  gpus: [],
})

function portsWith(row: SecretRow | null, open: SecretPorts['openSecret']): SecretPorts {
  const state = emptyState()
  const bucket = { id: 3, key: '', owner: 'ada', priority: 0, live: 1 }
  state.buckets.set(3, bucket as never)
  state.active.set(7, { seq: 7, bucket: 3 } as never)
  return {
    engine: { read: async look => look(state) },
    queries: { secret: async (owner, name) => (owner === 'ada' && name === row?.name ? row : null) },
    openSecret: open,
  }
}
const opens = async () => Buffer.from('value')

it('adds the values of the owner of the job to its offer, and leaves others as they are', async () => {
  const plain = anOffer([])
  const [first, second] = await withSecrets([plain, anOffer(['KEY'])], PRIVATE, portsWith(ROW, opens))
  expect(first).toBe(plain)
  expect(second?.secrets).toEqual({ given: [{ name: 'KEY', env: null, value: 'dmFsdWU=' }] })
})

it('withholds values from a link that others can read, before anything is opened', async () => {
  const never = () => Promise.reject(new Error('it was opened'))
  const [offer] = await withSecrets([anOffer(['KEY'])], { isPrivate: false, from: '10.0.0.9' }, portsWith(ROW, never))
  expect(offer?.secrets).toMatchObject({ final: false, withheld: expect.stringContaining('without TLS from 10.0.0.9') })
})

it('says for good what no other worker could change: removed, or sealed with a key that is gone', async () => {
  const [removed] = await withSecrets([anOffer(['KEY'])], PRIVATE, portsWith(null, opens))
  expect(removed?.secrets).toMatchObject({ final: true, withheld: expect.stringContaining('KEY of ada was removed') })
  const broken = () => Promise.reject(new Error('no such key'))
  const [unopened] = await withSecrets([anOffer(['KEY'])], PRIVATE, portsWith(ROW, broken))
  expect(unopened?.secrets).toMatchObject({ final: true, withheld: expect.stringContaining('no such key') })
})

it('counts TLS and this machine as private, and nothing else', () => {
  const of = (remoteAddress: string | undefined, encrypted?: boolean) =>
    linkPrivacy({ remoteAddress, encrypted } as unknown as Duplex).isPrivate
  expect([of('127.0.0.1'), of('::1'), of('::ffff:127.0.0.1'), of('10.0.0.1', true)]).toEqual([true, true, true, true])
  expect([of('10.0.0.1'), of('::ffff:10.127.0.1'), of(undefined), of('192.168.127.1')]).toEqual(Array(4).fill(false))
})
