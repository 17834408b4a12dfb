import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobSpecInput } from '@stoker/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { IMAGE } from './harness/engine.ts'
import { sharedEngine } from './harness/engine-shared.ts'
import { House } from './harness/house.ts'
import { aProgram, becomes, logOf, run } from './harness/jobs.ts'
import { openGate } from './harness/programs.ts'
import { standInGpus } from './harness/stand-in-gpus.ts'

const GPUS = ['a', 'b', 'c', 'd'].map(letter => `GPU-00000000-0000-0000-0000-00000000000${letter}`)
const TELL = `
import os
print(*(os.environ.get(name) for name in ("LOCAL_RANK", "WORLD_SIZE", "CUDA_VISIBLE_DEVICES")), flush=True)
`
const engine = await sharedEngine('docker')

let house: House
beforeEach(async () => {
  house = await House.open()
  const folder = house.path('programs', 'training')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'main.py'), TELL)
  await writeFile(join(folder, 'requirements.txt'), '')
  await writeFile(join(folder, 'program.json'), JSON.stringify({ type: 'training', title: 'x', inputs: {} }))
  await house.startHub()
})
afterEach(() => house.close())

async function startWorker(): Promise<void> {
  const env = await standInGpus(house, GPUS, typeof engine === 'string' ? undefined : join(engine.folder, 'stub'))
  const places = typeof engine === 'string' ? [] : ['--engine', engine.socket, '--no-pull']
  await house.startWorker('w', { env, args: ['--programs', house.path('programs'), '--max-jobs', '4', ...places] })
}

/** What each rank of a training says, and the devices the hub gave to its job. */
async function told(spec: JobSpecInput) {
  const common = { type: 'training' as const, input: { dataset: 'x' } }
  const job = await run(house.client, { ...common, ...spec })
  expect(job).toMatchObject({ state: 'succeeded' })
  const first = await logOf(house.client, job.id, 'stdout')
  const others = (await logOf(house.client, job.id, 'stderr')).replaceAll(/\[rank \d\] /g, '')
  const said = `${first}${others}`.trim().split('\n').toSorted()
  return { said, gpus: job.history[0]?.gpus ?? [] }
}

describe('a training on several GPUs (stand-ins: who is given which, no CUDA)', () => {
  it('has one rank for each of exactly its devices, while another job holds one', async () => {
    await startWorker()
    const gate = house.path('gate')
    const other = await house.client.submit(
      aProgram(`while [ ! -e ${gate} ]; do sleep 0.02; done`, { resources: { gpus: 1, cpus: 0.1 } }),
    )
    await becomes(house.client, other.id, 'running')
    const [held] = (await house.client.job(other.id)).history[0]?.gpus ?? []
    const { said, gpus } = await told({ isolation: 'none', resources: { gpus: 3, cpus: 1 } })
    expect([...gpus].toSorted()).toEqual(GPUS.filter(uuid => uuid !== held))
    const shown = GPUS.filter(uuid => gpus.includes(uuid)).join(',')
    expect(said).toEqual([`0 3 ${shown}`, `1 3 ${shown}`, `2 3 ${shown}`])
    await openGate(house, 'gate')
  })

  it('has as many ranks as it says where it has more devices', async () => {
    await startWorker()
    const { said, gpus } = await told({ isolation: 'none', ranks: 2, resources: { gpus: 3, cpus: 1 } })
    expect([said.length, gpus.length]).toEqual([2, 3])
  })

  it('has them in a container too, which is given these devices and no other', async context => {
    if (typeof engine === 'string') return context.skip(engine)
    await startWorker()
    const { said, gpus } = await told({ image: IMAGE, resources: { gpus: 2, cpus: 1 } })
    const shown = GPUS.filter(uuid => gpus.includes(uuid)).join(',')
    expect(said).toEqual([`0 2 ${shown}`, `1 2 ${shown}`])
  })
})
