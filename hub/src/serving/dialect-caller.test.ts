import type { IncomingMessage, ServerResponse } from 'node:http'
import { sha256 } from '@stoker/files'
import { describe, expect, it } from 'vitest'
import { emptyState, type State } from '../engine/state.ts'
import { dialectCaller, withPastedPaths } from './dialect-caller.ts'

function seen(url: string): { url: string | undefined; authorization: string | undefined } {
  const request = { url, headers: {} } as IncomingMessage
  withPastedPaths(() => {})(request, {} as ServerResponse)
  return { url: request.url, authorization: request.headers.authorization }
}

describe('addresses that were pasted together', () => {
  it.each([
    ['//api/jobs', '/api/jobs', undefined],
    ['///api//jobs?x=1', '/api//jobs?x=1', undefined],
    ['/t/secret/api/jobs', '/api/jobs', 'Bearer secret'],
    ['/t/secret//api/jobs', '/api/jobs', 'Bearer secret'],
    ['/t/a%20b/api', '/api', 'Bearer a b'],
    ['/t/secret', '/', 'Bearer secret'],
    ['/t/%zz/api', '/t/%zz/api', undefined],
    ['/trainers', '/trainers', undefined],
  ])('%s is read as %s', (url, path, authorization) => {
    expect(seen(url)).toEqual({ url: path, authorization })
  })
})

describe('who calls', () => {
  const state = emptyState()
  const token = { id: 't1', hash: sha256('s3cret'), role: 'worker', owner: 'ann', label: '', createdAt: 0 } as const
  state.tokens.set('t1', { ...token, expiresAt: 100, usedBy: null })
  state.tokenByHash.set(token.hash, 't1')
  const engine = { read: async <T>(look: (state: State) => T) => look(state) }
  const call = (authorization: string | undefined, remoteAddress: string, isOpen: boolean, now = 0) =>
    dialectCaller(engine, { headers: { authorization }, socket: { remoteAddress } } as never, { now, isOpen })
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`

  it('is known by the user part of an address as by a bearer token, until the token ends', async () => {
    const known = { owner: 'ann', role: 'worker', token: 't1' }
    expect(await call(basic('worker:s3cret'), '10.0.0.9', false)).toEqual(known)
    expect(await call('Bearer s3cret', '10.0.0.9', false)).toEqual(known)
    expect(await call(basic('worker:s3cret'), '10.0.0.9', false, 100)).toBeNull()
    expect(await call(basic('worker:wrong'), '127.0.0.1', true)).toBeNull()
  })

  it('needs no token on this machine where the operator says so, and only there', async () => {
    expect(await call(undefined, '127.0.0.1', true)).toEqual({ owner: 'admin', role: 'admin', token: null })
    expect(await call(undefined, '::ffff:127.0.0.1', true)).not.toBeNull()
    expect(await call(undefined, '127.0.0.1', false)).toBeNull()
    expect(await call(undefined, '10.0.0.9', true)).toBeNull()
  })

  it.each([
    ['a page of another site', { origin: 'https://evil.example' }, false],
    ['a page that has no name', { origin: 'null' }, false],
    ['a page of this machine', { origin: 'http://localhost:5173' }, true],
    ['a proxy', { 'x-forwarded-for': '10.0.0.9' }, false],
    ['a proxy of the newer kind', { forwarded: 'for=10.0.0.9' }, false],
  ])('%s on this machine: %j counts as someone here: %s', async (_, headers, isHere) => {
    const request = { headers, socket: { remoteAddress: '127.0.0.1' } }
    expect((await dialectCaller(engine, request as never, { now: 0, isOpen: true })) !== null).toBe(isHere)
  })
})
