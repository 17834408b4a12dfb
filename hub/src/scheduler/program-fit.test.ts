import type { Abilities, Hello } from '@stoker/protocol'
import { describe, expect, it } from 'vitest'
import { shapeOf } from '../engine/shape-of.ts'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { spread } from './spread.ts'
import { unschedulable } from './unschedulable.ts'

function worker(name: string, more: Partial<Abilities>, pythons: readonly string[] = ['3.11.7']): Hello {
  const hello = aHello(name, { cpus: 8 })
  const found = pythons.map(version => ({ path: '/p', version, prefix: '/usr' }))
  return { ...hello, abilities: { ...hello.abilities, ...more }, hardware: { ...hello.hardware, pythons: found } }
}
const state = (name: 'ready' | 'installable' | 'impossible', reason: string | null = null) => ({
  types: { rag: { state: name, reason } },
})
const placeOf = (house: TestHouse, spec: Parameters<typeof aJob>[0]) => {
  const job = house.submit(aJob(spec))
  return house.state.active.get(job)?.claim.worker
}

describe.each([
  ['packed', undefined],
  ['spread', spread],
] as const)('with policy %s', (_, policy) => {
  it('a program goes first to a worker that has its packages, then to any that can install them', () => {
    const house = new TestHouse(policy)
    house.join(worker('a', state('installable')))
    house.join(worker('b', state('ready')))
    house.join(worker('c', state('installable')))
    const spec = { type: 'rag' as const, resources: { cpus: 4 } }
    expect([placeOf(house, spec), placeOf(house, spec)]).toEqual(['b', 'b'])
    expect(['a', 'c']).toContain(placeOf(house, spec))
  })

  it('a job with packages of its own goes first where equal ones are installed', () => {
    const { environment = '' } = shapeOf(aJob({ command: 'x', environment: { requirements: 'Six\n' } }).spec)
    const warm = new TestHouse(policy)
    warm.join(worker('a', {}))
    warm.join(worker('b', { environments: [environment] }))
    warm.join(worker('c', {}))
    expect(placeOf(warm, { command: 'x', environment: { requirements: 'six' } })).toBe('b')
  })

  it('preferred tags count more than installed packages', () => {
    const house = new TestHouse(policy)
    house.join(worker('a', state('ready')))
    house.join({ ...worker('b', state('installable')), tags: ['fast'] })
    expect(placeOf(house, { type: 'rag', placement: { tags: { prefer: ['fast'] } } })).toBe('b')
  })
})

it.each([
  [worker('w', state('impossible', 'needs a GPU, this machine has none')), { type: 'rag' }, /w cannot: needs a GPU/],
  [worker('w', {}), { type: 'rag' }, /w cannot: it brings no program of that type/],
  [
    worker('w', {}),
    { command: 'x', environment: { requirements: 'six', python: '3.12' } },
    /Python 3.12, w has 3.11.7/,
  ],
  [
    worker('w', {}, []),
    { command: 'x', environment: { requirements: 'six', python: '3.1' } },
    /Python 3.1, w has none/,
  ],
] as const)('a worker that cannot run a program is never given it, for a reason', (hello, spec, words) => {
  const house = new TestHouse()
  house.join(hello)
  expect(placeOf(house, spec)).toBeUndefined()
  const bucket = house.state.buckets.get(house.state.lastBucket)
  expect(bucket === undefined ? '' : unschedulable(house.state, bucket.shape)).toMatch(words)
})

it('which packages a worker has makes it no other class, what it cannot run does', () => {
  const house = new TestHouse()
  house.join(worker('a', { ...state('ready'), environments: ['x'] }))
  house.join(worker('b', state('installable')))
  house.join(worker('c', state('impossible', 'no disk')))
  const [a, b, c] = ['a', 'b', 'c'].map(name => house.state.workers.get(name)?.classKey)
  expect(a).toBe(b)
  expect(a).not.toBe(c)
})
