import type { Abilities } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { ABILITIES } from '../test-link-bench.ts'
import { capabilitiesOf, jobsIn, listIn, specOf } from './qubix-job.ts'

const aJob = (input: Record<string, unknown>, type = 'custom_script') => ({ id: 'j', type, input })

it('reads jobs of either name of the type, with numbers as ids and text as input', () => {
  const listed = [
    { id: 'a', jobType: 'x', modelType: 'y', inputData: { n: 1 } },
    { id: 7, modelType: 'y', inputData: '{"n":2}' },
    { id: 'c', jobType: null, inputData: null },
  ]
  expect(jobsIn(listed)).toEqual([
    { id: 'a', type: 'x', input: { n: 1 } },
    { id: '7', type: 'y', input: { n: 2 } },
    { id: 'c', type: 'custom', input: {} },
  ])
})

it('leaves out what is no job, and what is over', () => {
  const odd = [null, 3, 'x', [], {}, { id: null }, { id: '' }, { id: 'a\nb' }, { id: 'x'.repeat(201) }]
  expect(jobsIn([...odd, { id: 'b', status: 'COMPLETED' }, { id: 'c', status: 'cancelled' }])).toEqual([])
  for (const list of [null, undefined, 'x', { jobs: 1 }]) expect(jobsIn(list)).toEqual([])
})

it('finds the list of a poll in an object too', () => {
  expect(listIn([1])).toEqual([1])
  expect(listIn({ jobs: [2] })).toEqual([2])
  expect(listIn({ pendingJobs: [3] })).toEqual([3])
  expect(listIn(null)).toBeNull()
})

it('makes a script of ours of a script, with its words, variables, time and network', () => {
  const input = {
    script: 'print(1)',
    scriptUrl: 'http://x/y.py',
    args: ['a', 2],
    env: { N: 1 },
    timeoutSeconds: 9,
    network: true,
  }
  expect(specOf(aJob(input), 1, ABILITIES)).toMatchObject({
    ...{ type: 'custom_script', input: { script: 'print(1)', args: ['a', '2'] }, env: { N: '1' }, timeoutMs: 9000 },
    ...{ network: 'internet', resources: { gpus: 1 } },
  })
  expect(specOf(aJob({ scriptUrl: 'https://x/y.py' }, 'whatever'), 0, ABILITIES)).toMatchObject({
    input: { scriptUrl: 'https://x/y.py' },
  })
})

it.each([
  [{}, 'No script content or URL provided'],
  [{ scriptUrl: 'file:///etc/passwd' }, 'scriptUrl is an http or https URL'],
  [{ script: 'x', timeoutSeconds: -1 }, 'timeout is a duration'],
  [{ script: 'x', env: { 'a b': '1' } }, 'env.a b'],
  [{ script: 'x', network: 'lan' }, 'network'],
])('says what is wrong with %j', (input, sentence) => {
  expect(specOf(aJob(input), 0, ABILITIES)).toContain(sentence)
})

it.each(['mnist_training', 'MNIST v2', 'stable_diffusion', 'training', 'inference', 'fine-tuning', 'anything'])(
  'refuses %s on a worker without a program for it',
  type => {
    expect(specOf(aJob({}, type), 0, ABILITIES)).toMatch(/^this worker has no program for "/)
  },
)

it('tells of what it can do and of nothing else', () => {
  expect(capabilitiesOf(ABILITIES)).toEqual(['custom_script'])
  expect(capabilitiesOf({ ...ABILITIES, executors: ['inline'] } as Abilities)).toEqual([])
})
