import os from 'node:os'
import { Hardware } from '@stoker/protocol'
import { expect, test } from 'vitest'
import { probeMachine } from './index.ts'
import { useStandIns } from './test-stand-in.ts'

const standIns = useStandIns()

test('this machine is described in the shape the protocol knows', async () => {
  const machine = await probeMachine({ folder: standIns.folder() })
  expect(Hardware.parse(machine)).toEqual(machine)
  expect(machine.hostname).toBe(os.hostname())
  expect(machine.cores).toBeGreaterThanOrEqual(1)
  expect(machine.cores).toBeLessThanOrEqual(os.cpus().length)
  expect(machine.memoryBytes).toBeLessThanOrEqual(os.totalmem())
  expect(machine.disk.freeBytes).toBeGreaterThan(0)
})

test('simulated GPUs stand in for real ones, and a stand-in nvidia-smi is not even asked', async () => {
  await standIns.write('nvidia-smi', `echo "0, GPU-1, Real, 1, 1"`)
  const machine = await probeMachine({ folder: standIns.folder(), simulateGpus: '2x24GB', env: standIns.env() })
  expect(machine.gpus.map(gpu => [gpu.uuid, gpu.simulated])).toEqual([
    ['SIM-0', true],
    ['SIM-1', true],
  ])
  expect(machine.gpuNote).toBe('2 simulated GPUs, real ones were not looked for')
})

test('a stand-in nvidia-smi is asked when nothing is simulated', async () => {
  await standIns.write('nvidia-smi', `echo "0, GPU-1, Stand-in, 1024, 1.0"`)
  const machine = await probeMachine({ folder: standIns.folder(), simulateGpus: null, env: standIns.env() })
  expect(machine.gpus).toMatchObject([{ uuid: 'GPU-1', simulated: false }])
  expect(machine.gpuNote).toBeNull()
})

test('a bad word for simulated GPUs is refused before anything is probed', async () => {
  await expect(probeMachine({ folder: '/nowhere', simulateGpus: 'many' })).rejects.toThrow('got "many"')
})
