import fc from 'fast-check'
import { expect, it } from 'vitest'
import { JobSpec, parseJobSpec } from './job-spec.ts'
import { readSpec, writeSpec } from './spec-record.ts'

function parsed(value: object): JobSpec {
  const result = parseJobSpec(value)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  return result.spec
}

it('keeps only what a spec says', () => {
  expect(writeSpec(parsed({ type: 'noop' }))).toBe('{"name":"noop","type":"noop"}')
  expect(writeSpec(parsed({ command: ['a'], resources: { gpus: 2 }, priority: 3 }))).toBe(
    '{"name":"a","type":"command","command":["a"],"resources":{"gpus":2,"cpus":1},"priority":3}',
  )
})

it('puts back what was left out', () => {
  for (const value of [{ type: 'noop' }, { command: 'x' }]) {
    expect(readSpec(writeSpec(parsed(value)))).toEqual(parsed(value))
  }
})

it.each([['{"name":"x"}'], ['{"type":"noop"}'], ['{"name":"x","type":"noop","priority":"high"}'], ['[]']])(
  'does not read %s',
  text => {
    expect(() => readSpec(text)).toThrow()
  },
)

it('does not mind what it does not know', () => {
  expect(readSpec('{"name":"noop","type":"noop","later":1}')).toEqual(parsed({ type: 'noop' }))
})

it('reads a spec that was written out in full', () => {
  const spec = parsed({ command: 'x', env: { A: 'b' } })
  expect(readSpec(JSON.stringify(spec))).toEqual(spec)
})

const text = fc.string({ minLength: 1, maxLength: 5 })
const texts = fc.array(text, { maxLength: 2 })
const size = fc.option(fc.nat())
const someSpec = fc.record({
  name: text,
  type: fc.constantFrom('noop' as const, 'command' as const),
  command: fc.oneof(fc.constant(null), text, fc.array(text)),
  input: fc.dictionary(text, fc.oneof(fc.constant(null), fc.nat(), fc.constant({}))),
  env: fc.dictionary(text, fc.string()),
  isolation: fc.constantFrom('auto' as const, 'none' as const, 'sandbox' as const),
  network: fc.constantFrom(null, 'none' as const, 'host' as const),
  resources: fc.record({
    gpus: fc.nat(2),
    gpuMemoryBytes: size,
    gpuModel: fc.option(text),
    gpuSharing: fc.constantFrom('exclusive' as const, 'shared' as const),
    cpus: fc.constantFrom(0, 0.5, 1),
    memoryBytes: size,
    diskBytes: size,
  }),
  placement: fc.record({
    worker: fc.option(text),
    exclude: texts,
    tags: texts,
    avoidTags: texts,
    preferTags: texts,
  }),
  priority: fc.integer({ min: -1, max: 1 }),
  timeoutMs: size,
  lostAfterMs: size,
  retries: fc.record({
    max: fc.nat(1),
    on: fc.constantFrom(['failed' as const], ['timed_out' as const], ['failed' as const, 'timed_out' as const]),
    initialMs: fc.constantFrom(1000, 2000),
    maxMs: fc.constantFrom(300_000, 5),
  }),
  labels: fc.dictionary(text, fc.string()),
  outputLimitBytes: fc.constantFrom(0, 2 ** 30),
  files: fc.constantFrom([], [{ path: 'a', sha256: 'b', size: 0, unpack: null, executable: false }]),
  outputs: texts,
  dependsOn: fc.constantFrom([], [{ job: 'j', on: 'end' as const }]),
  hold: fc.boolean(),
  secrets: fc.constant([]),
})

it('loses nothing of any spec', () => {
  fc.assert(
    fc.property(someSpec, spec => {
      const whole = JobSpec.parse(spec)
      expect(readSpec(writeSpec(whole))).toEqual(whole)
    }),
  )
})
