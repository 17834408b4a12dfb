import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { JobDetail } from '@stoker/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IMAGE } from './harness/engine.ts'
import { sharedEngine } from './harness/engine-shared.ts'
import { House } from './harness/house.ts'
import { logOf } from './harness/jobs.ts'
import { mlEnvironment, type Packages, packagesFor } from './harness/ml-environment.ts'

const DIGITS = join(resolve(import.meta.dirname, '..'), 'tests', 'data', 'mnist')
/** Programs of a worker stand back behind everything else on a busy machine. */
const PATIENCE_MS = 10 * 60_000
const engine = await sharedEngine('docker')

if (typeof engine === 'string') it('programs in containers are not tried here', context => context.skip(engine))
else
  describe('in a container, with packages that are mounted read-only from a folder its worker allows', () => {
    let house: House
    let packages: Packages
    beforeAll(async () => {
      packages = await packagesFor(await mlEnvironment(['mnist_training']), '/usr/bin/python3')
      house = await House.open()
      await house.startHub()
      const allowed = 'folder' in packages ? ['--allow-mount', packages.folder] : []
      await house.startWorker('w', { args: ['--engine', engine.socket, '--no-pull', ...allowed] })
    }, 25 * 60_000)
    afterAll(() => house.close())

    /** As a person would: by the command line, with outputs brought home. */
    async function runType(type: string, home: string, words: readonly string[]): Promise<JobDetail> {
      if ('reason' in packages) throw new Error(packages.reason)
      const image = ['--image', IMAGE, '--mount', `${packages.folder}:/packages`, '--env', 'PYTHONPATH=/packages']
      const ran = await house.stoker(['run', '--json', '--type', type, ...image, '--out', house.path(home), ...words])
      const { id } = JSON.parse(ran.stdout) as { id: string }
      const job = await house.client.job(id)
      const said = job.state === 'succeeded' ? '' : await logOf(house.client, id, 'stderr')
      expect({ state: job.state, reason: job.reason, said }).toEqual({ state: 'succeeded', reason: null, said: '' })
      expect(job.history).toMatchObject([{ isolation: 'container' }])
      return job
    }

    async function expectHome(home: string, job: JobDetail): Promise<void> {
      const { artifacts } = job.result as unknown as { artifacts: { name: string; sha256: string }[] }
      expect(artifacts.length).toBeGreaterThan(0)
      for (const { name, sha256 } of artifacts) {
        const content = await readFile(house.path(home, 'outputs', name))
        expect(createHash('sha256').update(content).digest('hex'), name).toBe(sha256)
      }
    }

    it(
      'mnist_training trains for an epoch and brings its model home, and inference answers with that model',
      async context => {
        if ('reason' in packages) return context.skip(packages.reason)
        const epoch = ['--input', 'epochs=1', '--input', 'batch_size=50', '--files', `${DIGITS}:mnist`]
        const job = await runType('mnist_training', 'trained', epoch)
        const { finalAccuracy, ranks } = job.result as unknown as { finalAccuracy: number; ranks: number }
        expect(ranks).toBe(1)
        expect(finalAccuracy).toBeGreaterThan(85)
        await expectHome('trained', job)

        const model = ['--files', `${house.path('trained', 'outputs', 'model.safetensors')}:model.safetensors`]
        const digits = ['--files', `${join(DIGITS, 't10k-images-idx3-ubyte.gz')}:t10k-images-idx3-ubyte.gz`]
        const inputs = ['--input', 'model=model.safetensors', '--input', 'input=t10k-images-idx3-ubyte.gz']
        const answer = await runType('inference', 'answered', [...model, ...digits, ...inputs])
        expect(answer.result).toMatchObject({ predictionCount: 1000, engine: 'torch' })
        await expectHome('answered', answer)
      },
      PATIENCE_MS,
    )

    it(
      'two ranks of training share one container and one model, without a network',
      async context => {
        if ('reason' in packages) return context.skip(packages.reason)
        const inputs = ['dataset=mnist', 'epochs=1', 'batch_size=250'].flatMap(input => ['--input', input])
        const words = ['--ranks', '2', '--cpus', '2', '--network', 'none', '--files', `${DIGITS}:mnist`, ...inputs]
        const job = await runType('training', 'ranked', words)
        expect(job.result).toMatchObject({ ranks: 2, engine: 'torch', dataset: { trainExamples: 5000 } })
        await expectHome('ranked', job)
      },
      PATIENCE_MS,
    )
  })
