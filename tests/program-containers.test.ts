import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IMAGE } from './harness/engine.ts'
import { sharedEngine } from './harness/engine-shared.ts'
import { House } from './harness/house.ts'
import { logOf, run } from './harness/jobs.ts'

const engine = await sharedEngine('docker')
const SAYS_RANK = 'import os; print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], flush=True)'

if (typeof engine === 'string') it('programs in containers are not tried here', context => context.skip(engine))
else
  describe('in a container', () => {
    let house: House
    beforeAll(async () => {
      house = await House.open()
      const folder = house.path('programs', 'compute')
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'main.py'), `${SAYS_RANK}\nopen("left", "w").write("x")`)
      await writeFile(join(folder, 'requirements.txt'), 'no-such-package-of-stoker')
      await writeFile(join(folder, 'program.json'), JSON.stringify({ type: 'compute', title: 'x', inputs: {} }))
      await house.startHub()
      const places = ['--engine', engine.socket, '--no-pull', '--programs', house.path('programs')]
      await house.startWorker('w', { args: places })
    })
    afterAll(() => house.close())

    it('the ranks of a job are processes of one container', async () => {
      const job = await run(house.client, { image: IMAGE, command: ['python3', '-c', SAYS_RANK], ranks: 2 })
      expect(job).toMatchObject({ state: 'succeeded' })
      expect(await logOf(house.client, job.id, 'stdout')).toBe('rank 0 of 2\n')
      expect(await logOf(house.client, job.id, 'stderr')).toBe('[rank 1] rank 1 of 2\n')
    })

    it('a rank that fails ends the others, and its last lines are the error', async () => {
      const script = `
import os, sys, time
if os.environ["RANK"] == "1":
    sys.exit("no data for me")
time.sleep(600)
`
      const job = await run(house.client, { image: IMAGE, command: ['python3', '-c', script], ranks: 2 })
      expect(job).toMatchObject({ state: 'failed', exitCode: 1 })
      expect(job.reason).toContain('rank 1 of 2 failed with exit code 1, the others were stopped\nno data for me')
    })

    it('a program of a type runs with the packages of the image, and nothing is installed', async () => {
      const job = await run(house.client, { type: 'compute', image: IMAGE, ranks: 1, outputs: ['left'] })
      expect(job).toMatchObject({ state: 'succeeded', history: [{ isolation: 'container' }] })
      expect(await logOf(house.client, job.id)).toBe('rank 0 of 1\n')
    })

    it('threads are those of the job, shared by its ranks, whatever the machine has', async () => {
      const command = ['python3', '-c', 'import os; print(os.environ["OMP_NUM_THREADS"], flush=True)']
      const job = await run(house.client, { image: IMAGE, command, ranks: 2, resources: { cpus: 2 } })
      expect(await logOf(house.client, job.id, 'stdout')).toBe('1\n')
      expect(await logOf(house.client, job.id, 'stderr')).toBe('[rank 1] 1\n')
    })
  })
