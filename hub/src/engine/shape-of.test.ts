import { Shape, Terms } from '@stoker/protocol'
import { describe, expect, it } from 'vitest'
import { bucketKey, isSameShape, isSameTerms, shapeOf } from './shape-of.ts'
import { aJob } from './test-house.ts'

const SHAPE: Shape = {
  executor: 'inline',
  gpus: 0,
  gpuMemoryMb: 0,
  gpuModel: null,
  gpuDifficulty: 'low',
  type: 'command',
  uses: [],
  gpuSharing: 'exclusive',
  cpusMilli: 0,
  memoryMb: 0,
  worker: null,
  exclude: [],
  tags: [],
  avoidTags: [],
  preferTags: [],
  python: false,
  isolation: 'auto',
  network: null,
  image: null,
  pull: 'missing',
  mounts: [],
  target: null,
}
const TERMS: Terms = {
  timeoutMs: null,
  lostAfterMs: null,
  retryMax: 0,
  retryOn: ['failed'],
  retryInitialMs: 1,
  retryMaxMs: 2,
  session: null,
}

/** For every field that is, or will be added: another value of its kind. */
function changes<T extends object>(of: T, others: { readonly [K in keyof T]-?: readonly T[K][] }): T[] {
  return (Object.keys(others) as (keyof T)[]).flatMap(key => others[key].map(value => ({ ...of, [key]: value })))
}

describe('every field counts', () => {
  const texts = ['', 'null', 'a', '"a"', '|']
  const lists = [[''], ['a', 'b'], ['a,b'], ['a","b'], ['|']]
  const otherShapes: { readonly [K in keyof Shape]-?: readonly Shape[K][] } = {
    executor: ['process', 'container', 'task'],
    gpus: [1, 2],
    gpuMemoryMb: [1],
    gpuModel: texts,
    gpuDifficulty: ['high'],
    gpuSharing: ['shared'],
    cpusMilli: [1],
    memoryMb: [1],
    worker: texts,
    exclude: lists,
    tags: lists,
    avoidTags: lists,
    preferTags: lists,
    python: [true],
    isolation: ['none', 'sandbox', 'container'],
    network: ['none', 'internet', 'host'],
    image: texts,
    pull: ['never', 'always'],
    mounts: lists,
    target: texts,
    session: [true],
    type: ['training'],
    uses: [['env'], ['env', 'files']],
    unverified: [true],
    environment: ['a', 'b'],
    interpreter: ['3.11'],
  }
  const shapes = changes(SHAPE, otherShapes)
  const terms = changes(TERMS, {
    timeoutMs: [0, 1],
    lostAfterMs: [0, 1],
    retryMax: [1],
    retryOn: [['timed_out'], ['failed', 'timed_out']],
    retryInitialMs: [2],
    retryMaxMs: [1],
    session: [
      { concurrency: 1, queue: 5, idleMs: 1, lifetimeMs: 1, preset: null },
      { concurrency: 2, queue: 5, idleMs: 1, lifetimeMs: 1, preset: null },
      { concurrency: 2, queue: 5, idleMs: 1, lifetimeMs: 1, preset: 'a' },
    ],
  })
  it('and none is forgotten here', () => {
    expect(Object.keys(Shape.shape).sort()).toEqual(Object.keys(otherShapes).sort())
    expect(Object.keys(Terms.shape).sort()).toEqual(Object.keys(TERMS).sort())
  })

  it('in the key of a bucket', () => {
    const keys = [
      bucketKey('a', 0, SHAPE, TERMS),
      bucketKey('a', 1, SHAPE, TERMS),
      bucketKey('b', 0, SHAPE, TERMS),
      bucketKey('a', 0, SHAPE, TERMS, 'g'),
      bucketKey('g|a', 0, SHAPE, TERMS),
      ...shapes.map(shape => bucketKey('a', 0, shape, TERMS)),
      ...terms.map(each => bucketKey('a', 0, SHAPE, each)),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('when two jobs are compared, whichever of them has more', () => {
    const wrong = shapes.filter(shape => isSameShape(shape, SHAPE) || isSameShape(SHAPE, shape))
    expect(wrong).toEqual([])
    expect(shapes.filter(shape => !isSameShape(shape, structuredClone(shape)))).toEqual([])
    expect(terms.filter(each => isSameTerms(each, TERMS) || isSameTerms(TERMS, each))).toEqual([])
    expect(isSameTerms(TERMS, structuredClone(TERMS))).toBe(true)
  })
})

it('equal packages are one environment, however they are written', () => {
  const shape = (requirements: string, python?: string) =>
    shapeOf(aJob({ command: 'x', environment: { requirements, ...(python === undefined ? {} : { python }) } }).spec)
  expect(shape('six # a\nIDNA').environment).toMatch(/^[0-9a-f]{16}$/)
  expect(shape('idna\nsix').environment).toBe(shape('six # a\nIDNA').environment)
  expect(shape('idna').environment).not.toBe(shape('six').environment)
  expect([shape('six').interpreter, shape('six', '3.11').interpreter]).toEqual([undefined, '3.11'])
})

it('gives jobs alike one key', () => {
  expect(bucketKey('a', 0, { ...SHAPE, tags: ['x'] }, TERMS)).toBe(bucketKey('a', 0, { ...SHAPE, tags: ['x'] }, TERMS))
})
