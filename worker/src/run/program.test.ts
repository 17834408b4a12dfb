import type { JobSpecInput } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { anOffer } from '../artifacts/test-transfers.ts'
import { RANKS_PROGRAM } from '../executors/ranks.ts'
import { programArgv } from './program.ts'
import { withProgramOutputs } from './program-outputs.ts'
import { inRanks, rankMounts, rankPaths } from './ranks.ts'

const PLACE = { workFolder: '/nowhere', python: '/env/bin/python', programFolder: '/srv/jobs/fine_tuning' }
const specOf = (spec: JobSpecInput) => anOffer({ ...spec }).spec
const aType = (more: JobSpecInput = {}) => specOf({ type: 'fine-tuning', command: undefined, ...more })

it('a type starts its own program, with the Python that has its packages', async () => {
  expect(await programArgv(aType(), PLACE)).toEqual(['/env/bin/python', '/srv/jobs/fine_tuning/main.py'])
  expect(await programArgv(aType({ image: 'a' }), PLACE)).toEqual(['python3', '/stoker/jobs/fine_tuning/main.py'])
  await expect(programArgv(aType(), { ...PLACE, python: null })).rejects.toThrow('this worker has none')
})

it('what the program of a type leaves is kept unless the job says what', () => {
  const outputsOf = (spec: JobSpecInput) => withProgramOutputs(anOffer(spec)).spec.outputs
  expect(outputsOf({ type: 'rag', command: undefined })).toEqual(['outputs/**'])
  expect(outputsOf({ type: 'rag', command: undefined, outputs: ['a'] })).toEqual(['a'])
  expect(outputsOf({ command: 'x' })).toEqual([])
})

it('ranks are as many as the job says, or has devices, wherever it runs', () => {
  const words = (spec: JobSpecInput, gpus = 0) => inRanks(['x'], specOf(spec), gpus, '/p')
  expect(words({})).toEqual(['x'])
  expect(words({ ranks: 'gpus' }, 3)).toEqual(['/p', '-I', RANKS_PROGRAM, '3', '5', 'by-others', 'x'])
  expect(words({ ranks: 'gpus' })).toContain('1')
  expect(words({ ranks: 2, image: 'a' })).toEqual(['python3', '-I', '/stoker/ranks.py', '2', '5', 'by-us', 'x'])
  expect([rankPaths(specOf({})), rankMounts(specOf({}))]).toEqual([[], []])
  expect(rankMounts(specOf({ ranks: 2 }))).toEqual([
    { source: RANKS_PROGRAM, target: '/stoker/ranks.py', readOnly: true },
  ])
})
