import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { probeNvidia } from './nvidia.ts'
import { stillRunning, useStandIns } from './test-stand-in.ts'

const standIns = useStandIns()

/** The stand-in refuses any other question than the one whose answer was recorded. */
async function probeStandIn(output: string, exit = 0) {
  const question = '--query-gpu=index,uuid,name,memory.total,driver_version --format=csv,noheader,nounits'
  await standIns.write('nvidia-smi', `[ "$*" = "${question}" ] || exit 99\ncat <<'END'\n${output}\nEND\nexit ${exit}`)
  return probeNvidia({ env: standIns.env() })
}

const RTX = '0, GPU-5a1c6a3e-6bd1-4c3f-9f0a-2f1d1f0b7c11, NVIDIA GeForce RTX 4090, 24564, 550.54.15'
const A100 = '1, GPU-93f4b0a2-0c55-4c0e-8f43-aa19f7a5b7d2, NVIDIA A100-SXM4-40GB, 40960, 550.54.15'

test('a stand-in nvidia-smi with one GPU gives that GPU and no note', async () => {
  expect(await probeStandIn(RTX)).toEqual({
    gpus: [
      {
        index: 0,
        uuid: 'GPU-5a1c6a3e-6bd1-4c3f-9f0a-2f1d1f0b7c11',
        name: 'NVIDIA GeForce RTX 4090',
        memoryMb: 24_564,
        driver: '550.54.15',
        simulated: false,
      },
    ],
    note: null,
  })
})

test('a stand-in nvidia-smi with several GPUs gives all in their order', async () => {
  const { gpus, note } = await probeStandIn(`${RTX}\n${A100}`)
  expect(gpus.map(gpu => [gpu.index, gpu.memoryMb])).toEqual([
    [0, 24_564],
    [1, 40_960],
  ])
  expect(note).toBeNull()
})

test('MIG lines of a stand-in nvidia-smi are not taken for GPUs and are mentioned', async () => {
  const mig = '  MIG 1g.5gb Device 0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)'
  const { gpus, note } = await probeStandIn(`${A100}\n${mig}`)
  expect(gpus.map(gpu => gpu.index)).toEqual([1])
  expect(note).toBe(`nvidia-smi also said: ${mig.trim()}`)
})

test.each(['[N/A]', '[Not Supported]'])(
  'a stand-in GPU with %s for memory has none to give, and the note says so',
  async cell => {
    const { gpus, note } = await probeStandIn(`0, GPU-1f, NVIDIA GB10, ${cell}, ${cell}`)
    expect(gpus).toMatchObject([{ memoryMb: 0, driver: null }])
    expect(note).toBe('GPU 0 does not tell its memory size')
  },
)

test('a GPU that fell off the bus does not hide the one a stand-in nvidia-smi still lists', async () => {
  const lost = 'Unable to determine the device handle for GPU0000:01:00.0: Unknown Error'
  const { gpus, note } = await probeStandIn(`${A100}\n${lost}`, 255)
  expect(gpus.map(gpu => gpu.index)).toEqual([1])
  expect(note).toContain('nvidia-smi ended with 255')
})

test('a stand-in nvidia-smi that fails gives no GPU and its own words', async () => {
  const words = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
  expect(await probeStandIn(words, 9)).toEqual({ gpus: [], note: `nvidia-smi ended with 9: ${words}` })
})

test('a stand-in nvidia-smi that finds no device gives no GPU', async () => {
  expect(await probeStandIn('No devices were found')).toEqual({
    gpus: [],
    note: 'nvidia-smi also said: No devices were found',
  })
})

test('a stand-in nvidia-smi that hangs is ended with its children and gives no GPU', async () => {
  await standIns.write(
    'nvidia-smi',
    `echo $$ > ${standIns.folder()}/pids\nsleep 1000 &\necho $! >> ${standIns.folder()}/pids\nwait`,
  )
  const probe = await probeNvidia({ env: standIns.env(), timeoutMs: 300 })
  expect(probe).toEqual({ gpus: [], note: 'nvidia-smi gave no answer within 300 ms' })
  const pids = (await readFile(join(standIns.folder(), 'pids'), 'utf8')).trim().split('\n').map(Number)
  expect(pids).toHaveLength(2)
  await expect.poll(() => stillRunning(pids), { timeout: 10_000 }).toEqual([])
})

test('without nvidia-smi there are zero GPUs and the note says why', async () => {
  expect(await probeNvidia({ env: { PATH: standIns.folder() } })).toEqual({
    gpus: [],
    note: 'nvidia-smi is not installed',
  })
})

test('an nvidia-smi that may not be executed gives zero GPUs and the reason', async () => {
  await standIns.write('nvidia-smi', 'exit 0')
  await chmod(join(standIns.folder(), 'nvidia-smi'), 0o644)
  const { gpus, note } = await probeNvidia({ env: { PATH: standIns.folder() } })
  expect(gpus).toEqual([])
  expect(note).toContain('nvidia-smi could not be started')
})
