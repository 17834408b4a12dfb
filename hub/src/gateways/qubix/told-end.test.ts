import { MAX_RESULT_BYTES } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { CompleteBody } from './bodies.ts'
import { type Teller, toldEnd } from './told-end.ts'

const trusted: Teller = { variant: 'enhanced', type: 'custom_script', isTrusted: true }
const told = (body: Record<string, unknown>, teller = trusted) =>
  toldEnd(CompleteBody.parse({ workerId: 'w', status: 'completed', ...body }), teller)

it.each([
  ['null', null, null],
  ['a word', 'done', 'done'],
  ['a list', [1, 2], [1, 2]],
  ['fields', { a: 1 }, { a: 1 }],
])('a result that is %s is kept as it is', (_, result, kept) => {
  expect(told({ result }).result).toEqual(kept)
})

it('keeps averages in the result, and does not repeat those that are there', () => {
  expect(told({ result: 'done', metrics: { cpuUsageAvg: 3 } }).result).toEqual({
    value: 'done',
    metrics: { cpuUsageAvg: 3 },
  })
  expect(told({ result: { metrics: { a: 1 } }, metrics: { b: 2 } }).result).toEqual({ metrics: { a: 1 } })
  expect(told({ result: null, metrics: { b: 2 } }).result).toEqual({ metrics: { b: 2 } })
})

it('takes result_url for a result, and doubts it', () => {
  expect(told({ result_url: 'https://x/y' }).result).toMatchObject({ value: 'https://x/y', unverified: true })
})

it.each([
  [{ simulated: true }, 'simulated'],
  [{ modelUrl: 'ipfs://Qm' }, 'modelUrl'],
  [{ checkpointUrl: 'https://x' }, 'checkpointUrl'],
  [{ images: ['https://x'] }, 'images'],
])('doubts %j', (result, word) => {
  expect(told({ result }).result).toMatchObject({
    unverified: true,
    unverifiedBecause: [expect.stringContaining(word)],
  })
})

it('does not doubt what names no address', () => {
  expect(told({ result: { modelUrl: null, images: [], simulated: false } }).result).not.toHaveProperty('unverified')
})

it('doubts all that workers of a kind may make up', () => {
  const result = told({ result: { a: 1 } }, { variant: 'simple', type: 'training', isTrusted: false }).result
  expect(result).toMatchObject({ unverifiedBecause: [expect.stringContaining('type training')] })
})

it('speaks of accuracy in fractions, whoever said it', () => {
  const result = { finalAccuracy: 98, trainingMetrics: [{ epoch: 1, accuracy: 50, loss: 1 }, 'x'] }
  const fractions = { finalAccuracy: 0.98, trainingMetrics: [{ epoch: 1, accuracy: 0.5, loss: 1 }, 'x'] }
  expect(told({ result }).result).toEqual(fractions)
  expect(told({ result: fractions }, { ...trusted, variant: 'simple' }).result).toEqual(fractions)
})

it('puts a result that is too large for the journal into the log', () => {
  const end = told({ result: { text: 'x'.repeat(MAX_RESULT_BYTES) } })
  expect(end).toMatchObject({ result: null, note: expect.stringContaining('it is in the log') })
  expect(JSON.parse(end.stdout).text).toHaveLength(MAX_RESULT_BYTES)
})

it('shortens a long error, and keeps the whole in the log', () => {
  const error = `Script failed with exit code -9: ${'x'.repeat(5000)}`
  const end = told({ status: 'failed', error, result: { errorDetails: 'trace' } })
  expect(end).toMatchObject({ outcome: 'failed', exitCode: -9, result: null, stderr: `${error}\ntrace\n` })
  expect(end.error?.length).toBeLessThan(2100)
})

it('finds some reason for every failure', () => {
  expect(told({ status: 'failed' }).error).toContain('without a reason')
  expect(told({ status: 'failed', error: '', result: { error: 'inner' } }).error).toBe('inner')
})
