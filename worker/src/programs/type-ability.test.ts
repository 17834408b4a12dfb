import { ProgramManifest } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { typeAbility } from './type-ability.ts'

const MACHINE = { noPrograms: null, gpus: 0, memoryBytes: 8e9, freeBytes: 50e9 }
const PACKAGES = { count: 3, isInstalled: false, noMeans: null, failure: null }
const NEEDS = { gpu: 'optional', minMemoryMb: 2000, minDiskMb: 5000 }

it.each([
  ['ready once its packages are there', {}, {}, { isInstalled: true }, 'ready', null],
  ['ready if it needs none', {}, {}, { count: 0, noMeans: 'no network' }, 'ready', null],
  ['installable before', {}, {}, {}, 'installable', '3 packages are installed on first use'],
  [
    'installable after a failure',
    {},
    {},
    { failure: 'x failed\nmore' },
    'installable',
    'the last try failed: x failed',
  ],
  ['impossible without Python', {}, { noPrograms: 'no Python' }, { isInstalled: true }, 'impossible', 'no Python'],
  ['impossible without a GPU', { gpu: 'required' }, {}, {}, 'impossible', 'needs a GPU, this machine has none'],
  ['ready with a GPU', { gpu: 'required' }, { gpus: 1 }, { isInstalled: true }, 'ready', null],
  ['impossible without memory', {}, { memoryBytes: 1e9 }, {}, 'impossible', /2.0 GB of memory.*1.0 GB|2 GB.*1 GB/],
  ['impossible without disk', {}, { freeBytes: 1e9 }, {}, 'impossible', /needs 5.* of disk, less is free/],
  ['impossible without a network', {}, {}, { noMeans: 'no network for pip' }, 'impossible', 'no network for pip'],
] as const)('a program is %s', (_, needs, machine, packages, state, reason) => {
  const manifest = ProgramManifest.parse({ type: 'rag', title: 'x', inputs: {}, needs: { ...NEEDS, ...needs } })
  const found = typeAbility(manifest, { ...MACHINE, ...machine }, { ...PACKAGES, ...packages })
  expect(found.state).toBe(state)
  if (reason instanceof RegExp) expect(found.reason).toMatch(reason)
  else expect(found.reason).toBe(reason)
})
