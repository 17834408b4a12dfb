import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { aProgram, ended } from './harness/jobs.ts'
import { upTo } from './harness/programs.ts'
import { standInGpus } from './harness/stand-in-gpus.ts'

const GPUS = ['GPU-00000000-0000-0000-0000-00000000000a', 'GPU-00000000-0000-0000-0000-00000000000b']

let house: House
beforeEach(async () => {
  house = await House.open()
})
afterEach(() => house.close())

/** Both workers of the machine see the same two devices. */
async function startWorkers(): Promise<void> {
  await house.startHub()
  const env = await standInGpus(house, GPUS)
  for (const name of ['a', 'b']) await house.startWorker(name, { env, args: ['--max-jobs', '8'] })
}

it('two workers on one machine share its devices: no device ever runs two jobs at once', async () => {
  await startWorkers()
  const { client } = house
  const each = (act: string) => `for u in $(echo $NVIDIA_VISIBLE_DEVICES | tr , ' '); do ${act}; done`
  const hold = `${each(`mkdir ${house.root}/$u || exit 9`)}; sleep 0.05; ${each(`rmdir ${house.root}/$u`)}`
  const jobs = await client.submitMany(
    upTo(40).map(i =>
      aProgram(hold, { resources: { gpus: (i % 2) + 1, cpus: 0.01 }, placement: { worker: i % 3 === 0 ? 'a' : 'b' } }),
    ),
  )
  const done = await Promise.all(jobs.map(({ id }) => ended(client, id)))
  expect(done.map(job => job.state)).toEqual(upTo(40).map(() => 'succeeded'))
  expect(new Set(done.map(job => job.worker?.name)).size).toBe(2)
  expect((await client.workers()).map(({ gpus }) => gpus.claimed)).toEqual([0, 0])
})
