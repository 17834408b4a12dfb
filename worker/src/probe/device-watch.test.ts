import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { deviceFaults } from './device-faults.ts'
import { DeviceWatch } from './device-watch.ts'
import { foreignUse, type OwnUse } from './foreign-use.ts'
import { isAttemptProcess } from './own-process.ts'
import { useStandIns } from './test-stand-in.ts'

const standIns = useStandIns()
const SAMPLE = { utilization: 1, temperatureC: 1, powerW: null, powerLimitW: null }

function ownUse(over: Partial<OwnUse> = {}): OwnUse {
  return { isOurs: async pid => pid === 7, inUse: new Set(), samples: [], ...over }
}

test('memory of processes that are not ours is summed per device, ours is left out', async () => {
  const output = 'GPU-1, 7, 20000\nGPU-1, 8, 700\nGPU-1, 9, 300\nGPU-2, 7, 5000\n\nGPU-other, 8, 99\n'
  expect([...(await foreignUse(output, ['GPU-1', 'GPU-2', 'GPU-3'], ownUse()))]).toEqual([
    ['GPU-1', 1000],
    ['GPU-2', 0],
    ['GPU-3', 0],
  ])
})

test('where the driver does not say how much, all that is used counts unless our own program is there', async () => {
  const samples = ['GPU-1', 'GPU-2'].map(uuid => ({ ...SAMPLE, uuid, memoryUsedMb: 3000 }))
  const own = ownUse({ samples, inUse: new Set(['GPU-2']) })
  const output = 'GPU-1, 8, [N/A]\nGPU-2, 8, [N/A]\nGPU-2, 9, 100'
  expect([...(await foreignUse(output, ['GPU-1', 'GPU-2'], own))]).toEqual([
    ['GPU-1', 3000],
    ['GPU-2', null],
  ])
})

test('a process that cannot be seen from here is foreign only where nothing of ours runs', async () => {
  const own = ownUse({ isOurs: async () => null, inUse: new Set(['GPU-2']) })
  expect([...(await foreignUse('GPU-1, 8, 600\nGPU-2, 9, 600', ['GPU-1', 'GPU-2'], own))]).toEqual([
    ['GPU-1', 600],
    ['GPU-2', null],
  ])
})

test.each([
  ['GPU-1, [N/A], [N/A]\nGPU-2, 0, No', []],
  [
    'GPU-1, 3, No\nGPU-2, 0, Yes',
    [
      ['GPU-1', /3 uncorrected/],
      ['GPU-2', /wait to be retired/],
    ],
  ],
  ['GPU-1, [GPU is lost], [GPU is lost]\nGPU-2, 0, No', [['GPU-1', /GPU is lost/]]],
  [
    'GPU-2, 0, No\nUnable to determine the device handle for GPU0000:01:00.0: GPU is lost',
    [['GPU-1', /lists it no more/]],
  ],
  ['Field "retired_pages.pending" is not a valid field to query.', []],
] as const)('%j tells which devices are faulty', (said, expected) => {
  const faults = [...deviceFaults(said, ['GPU-1', 'GPU-2'])]
  expect(faults.map(([uuid]) => uuid)).toEqual(expected.map(([uuid]) => uuid))
  expected.forEach(([, words], index) => void expect(faults[index]?.[1]).toMatch(words))
})

test('a process is an attempt if it or one above it carries the mark', async () => {
  const process = async (pid: number, parent: number, environ: string) => {
    const folder = join(standIns.folder(), String(pid))
    await mkdir(folder)
    await writeFile(join(folder, 'stat'), `${pid} (a (b) c) S ${parent} 0`)
    await writeFile(join(folder, 'environ'), environ)
  }
  await process(10, 1, 'A=1\0STOKER_ATTEMPT=7-1-1\0')
  await process(11, 10, '')
  await process(12, 1, 'NOT_STOKER_ATTEMPT=1\0')
  const answers = await Promise.all([10, 11, 12, 13].map(pid => isAttemptProcess(pid, standIns.folder())))
  expect(answers).toEqual([true, true, false, null])
})

test('a stand-in nvidia-smi is asked who uses the devices and how they are', async () => {
  await standIns.write(
    'nvidia-smi',
    `case "$1" in\n--query-compute-apps=gpu_uuid,pid,used_memory) echo "GPU-1, 8, 900";;\n--query-gpu=uuid,ecc*) echo "GPU-1, 2, No";;\n*) exit 99;;\nesac`,
  )
  const watch = new DeviceWatch({
    uuids: ['GPU-1'],
    intervalMs: 60_000,
    env: standIns.env(),
    samples: () => [],
    inUse: () => new Set(),
    isOurs: async () => false,
  })
  await watch.start()
  expect(watch.latest()).toEqual([
    { uuid: 'GPU-1', foreignMb: 900, fault: '2 uncorrected memory errors since the driver was loaded' },
  ])
  await watch.stop()
})
