import { expect, test } from 'vitest'
import { nodeEnv, nodeFlags } from './node-flags.ts'

test('a hub gets room for what dies young and few arenas, a simulated one more of that room and small compiled functions, others none of it', () => {
  expect(nodeFlags('/dist/hub.js')).toContain('--max-semi-space-size=64')
  expect(nodeEnv('/dist/hub.js', {})).toEqual({ MALLOC_ARENA_MAX: '2' })
  expect(nodeFlags('/dist/worker.js')).toEqual(['--no-parallel-scavenge'])
  expect(nodeEnv('/dist/worker.js', {})).toEqual({})
  expect(nodeFlags('/dist/sim.js')).toEqual(['--max-semi-space-size=128', '--max-inlined-bytecode-size-cumulative=300'])
  expect(nodeFlags('/dist/doctor.js')).toEqual([])
})

test('a number of arenas that its user asks for stays', () => {
  expect(nodeEnv('/dist/hub.js', { MALLOC_ARENA_MAX: '8' })).toEqual({})
})
