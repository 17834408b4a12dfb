import { expect, it } from 'vitest'
import { emptyState } from '../../engine/state.ts'
import { isKnown, Strangers } from './strangers.ts'

it('lets so many of one address stand at the door, and others beside them', () => {
  const strangers = new Strangers()
  const leaves = Array.from({ length: 64 }, () => strangers.enter('10.0.0.1'))
  expect(leaves).not.toContain(null)
  expect(strangers.enter('10.0.0.1')).toBeNull()
  expect(strangers.enter('10.0.0.2')).not.toBeNull()
  leaves[0]?.()
  leaves[0]?.()
  expect(strangers.enter('10.0.0.1')).not.toBeNull()
  expect(strangers.enter('10.0.0.1')).toBeNull()
})

it('lets only so many in from all addresses together', () => {
  const strangers = new Strangers()
  const entered = Array.from({ length: 3000 }, (_, i) => strangers.enter(`10.0.0.${i}`))
  expect(entered.filter(leave => leave !== null)).toHaveLength(1024)
})

it('knows a worker by its secret and a newcomer by its token', () => {
  const state = emptyState()
  state.tokenByHash.set('token-hash', 't1')
  state.workers.set('w', { facts: { secretHash: 'worker-hash' } } as never)
  expect(isKnown(state, { secretHash: 'worker-hash', joinHash: null })).toBe(true)
  expect(isKnown(state, { secretHash: 'x', joinHash: 'token-hash' })).toBe(true)
  expect(isKnown(state, { secretHash: 'x', joinHash: 'x' })).toBe(false)
  expect(isKnown(state, { secretHash: 'token-hash', joinHash: null })).toBe(false)
})
