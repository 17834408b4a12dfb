import type { Gpu } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { findPlace, freeGpus } from './places.ts'

const gpu = (index: number): Gpu => ({
  ...{ index, uuid: `GPU-${index}`, name: 'T4', memoryMb: 16_000, driver: null, simulated: false },
})
const MACHINE = { maxJobs: 2, cpus: 4, memoryBytes: 8e9, gpus: [gpu(0), gpu(1)] }
const NEED = { gpus: 1, cpus: 1, memoryBytes: 1e9 }
const taken = (uuids: readonly string[], more = {}) => ({ ...NEED, uuids, ...more })

it('gives each job devices of its own', () => {
  expect(findPlace(NEED, [], MACHINE, [])).toEqual({ uuids: ['GPU-0'] })
  expect(findPlace(NEED, [taken(['GPU-0'])], MACHINE, [])).toEqual({ uuids: ['GPU-1'] })
  expect(findPlace({ ...NEED, gpus: 2 }, [], MACHINE, [])).toEqual({ uuids: ['GPU-0', 'GPU-1'] })
})

it.each([
  [{ gpus: 3 }, 'it needs 3 GPUs, this worker has 2'],
  [{ cpus: 5 }, 'it needs 5 CPUs, this worker has 4'],
  [{ memoryBytes: 9e9 }, 'it needs 9 GB, this worker has 8 GB'],
])('says for ever what the machine can never have: %j', (need, why) => {
  expect(findPlace({ ...NEED, ...need }, [], MACHINE, [])).toEqual({ why, forever: true })
})

it.each([
  [{ gpus: 2 }, [taken(['GPU-0'])], 'it needs 2 GPUs, 1 are free now'],
  [{}, [taken([], { cpus: 4 })], 'it needs 1 CPU, 0 are free now'],
  [{}, [taken([], { memoryBytes: 7.5e9 })], 'it needs 1 GB, 500 MB are free now'],
  [{}, [taken([]), taken([])], 'it needs a slot, none of 2 is free now'],
])('says for now what others have: %j', (need, others, why) => {
  expect(findPlace({ ...NEED, ...need }, others, MACHINE, [])).toEqual({ why, forever: false })
})

it('leaves devices alone that are faulty or in use by others', () => {
  const news = [
    { uuid: 'GPU-0', foreignMb: 0, fault: 'fell off the bus' },
    { uuid: 'GPU-1', foreignMb: 8000, fault: null },
  ]
  expect(freeGpus([], MACHINE, news)).toEqual([])
  expect(findPlace(NEED, [], MACHINE, news)).toMatchObject({ forever: false })
  expect(freeGpus([], MACHINE, [{ uuid: 'GPU-1', foreignMb: 100, fault: null }])).toHaveLength(2)
})
