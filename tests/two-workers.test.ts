import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { aProgram, ended } from './harness/jobs.ts'
import { upTo } from './harness/programs.ts'

const GPUS = ['GPU-00000000-0000-0000-0000-00000000000a', 'GPU-00000000-0000-0000-0000-00000000000b']
/** Answers the probe with two devices; asked for samples it goes on as the real tool does, saying nothing. */
const NVIDIA_SMI = `#!/bin/sh
case "$*" in *driver_version*) ;; *) exec sleep 1000 ;; esac
${GPUS.map((uuid, i) => `echo "${i}, ${uuid}, Stand-in, 24576, 550.1"`).join('\n')}
`

let house: House
beforeEach(async () => {
  house = await House.open()
})
afterEach(() => house.close())

/** Both workers of the machine see the same two devices. */
async function startWorkers(): Promise<void> {
  await mkdir(house.path('tools'))
  await writeFile(house.path('tools', 'nvidia-smi'), NVIDIA_SMI)
  await chmod(house.path('tools', 'nvidia-smi'), 0o755)
  await house.startHub()
  const env = { PATH: `${house.path('tools')}${delimiter}${process.env.PATH ?? ''}` }
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
