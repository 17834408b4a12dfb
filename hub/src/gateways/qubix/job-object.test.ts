import { type JobSpecInput, parseJobSpec } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { jobObject } from './job-object.ts'
import type { Variant } from './provider-note.ts'

function objectOf(spec: JobSpecInput, variant: Variant = 'enhanced') {
  const parsed = parseJobSpec(spec)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return jobObject('id', parsed.spec, variant)
}

it.each<[JobSpecInput, Record<string, unknown>]>([
  [{ type: 'custom_script', input: { script: 'x' } }, { script: 'x' }],
  [{ type: 'custom_script', input: { scriptUrl: 'https://x/y.py' } }, { scriptUrl: 'https://x/y.py' }],
  [
    { type: 'mnist_training', input: { epochs: 5, batch_size: 64, learning_rate: null } },
    { epochs: 5, batch_size: 64 },
  ],
  [
    { type: 'stable_diffusion', input: { prompt: 'a', steps: 50 } },
    { prompt: 'a', steps: 50 },
  ],
  [
    { type: 'training', input: { dataset: 'd', epochs: 1 } },
    { dataset: 'd', epochs: 1 },
  ],
  [
    { type: 'inference', input: { model: 'm', input: 'i' } },
    { model: 'm', input: 'i' },
  ],
  [
    { type: 'fine-tuning', input: { baseModel: 'b', dataset: 'd' } },
    { baseModel: 'b', dataset: 'd' },
  ],
  [{ type: 'compute' }, {}],
])('%j is told without nulls, under both names of its type', (spec, inputData) => {
  const job = { jobType: spec.type, modelType: spec.type, computeNeeded: 1, status: 'ASSIGNED' }
  expect(objectOf(spec)).toEqual({ id: 'id', ...job, inputData })
})

it.each([
  ['0.5', 0.5],
  ['0', 1],
  ['-2', 1],
  ['much', 1],
  ['Infinity', 1],
])('the compute that a customer asked for as %j is told as the number %d', (text, told) => {
  const spec = { type: 'compute' as const, labels: { 'qubix.compute_needed': text } }
  expect(objectOf(spec)).toMatchObject({ computeNeeded: told, inputData: {} })
})

it.each([0, -1, '5'])('epochs of %j are for no such worker', epochs => {
  expect(objectOf({ type: 'mnist_training', input: { epochs } })).toMatchObject({ impossible: expect.any(String) })
})

it('tells limits to whom honours them', () => {
  const spec = { type: 'custom_script', input: { script: 'x' }, env: { A: 'b' }, timeout: 60 } as const
  expect(objectOf(spec, 'capable')).toMatchObject({ inputData: { env: { A: 'b' }, timeoutSeconds: 60 } })
  expect(objectOf(spec)).toMatchObject({ inputData: { script: 'x' } })
})
