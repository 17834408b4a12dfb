import { expect, it } from 'vitest'
import { chosenGpus } from './chosen-gpus.ts'
import { simulatedGpus } from './simulated.ts'

const gpus = simulatedGpus('3x24GB')

it('offers all devices, of no particular difficulty, when nothing is said', () => {
  expect(chosenGpus(gpus, { GPU_DEVICE_IDS: ' ' })).toEqual(gpus)
})

it('offers the devices that are named, each for what it is said to be for', () => {
  const chosen = chosenGpus(gpus, { GPU_DEVICE_IDS: '2, 0', GPU_DEVICE_DIFFICULTY: '0:low, 2:high' })
  expect(chosen.map(({ index, difficulty }) => [index, difficulty])).toEqual([
    [0, 'low'],
    [2, 'high'],
  ])
})

it.each([
  [{ GPU_DEVICE_IDS: '0,x' }, 'GPU_DEVICE_IDS is a list of indexes like "0,1", found "x"'],
  [{ GPU_DEVICE_DIFFICULTY: '0=low' }, 'GPU_DEVICE_DIFFICULTY is a list like "0:low,1:high", found "0=low"'],
  [{ GPU_DEVICE_DIFFICULTY: '0:mid' }, 'found "0:mid"'],
])('refuses what it does not understand: %o', (env, words) => {
  expect(() => chosenGpus(gpus, env)).toThrow(words)
})
