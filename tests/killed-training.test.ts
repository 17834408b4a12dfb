import { join, resolve } from 'node:path'
import type { JobSpecInput } from '@stoker/protocol'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { givenSeed } from './harness/config.ts'
import { House } from './harness/house.ts'
import { ended } from './harness/jobs.ts'
import { type MlEnvironment, mlEnvironment, showing } from './harness/ml-environment.ts'
import { printedSeed, seeded } from './harness/seeded.ts'

const ROOT = resolve(import.meta.dirname, '..')
const DIGITS = join(ROOT, 'tests', 'data', 'mnist')
const [EPOCHS, BATCHES, EVERY] = [3, 100, 25]
/** Programs of a worker stand back behind everything else on a busy machine. */
const PATIENCE_MS = 10 * 60_000

interface Trained {
  readonly trainingMetrics: readonly object[]
  readonly artifacts: readonly { readonly name: string; readonly sha256: string }[]
  readonly resumedFrom: { readonly path: string; readonly step: number } | null
}

let environment: MlEnvironment
let house: House
beforeAll(async () => {
  environment = await mlEnvironment(['mnist_training'])
}, 25 * 60_000)
beforeEach(async () => {
  house = await House.open()
  await house.startHub()
})
afterEach(() => house.close())

/** One processor, so one thread: then sums are added in one order everywhere, and equal means bit by bit. */
const training = (python: string): JobSpecInput => ({
  command: [python, '-B', join(ROOT, 'jobs', 'mnist_training', 'main.py')],
  isolation: 'sandbox',
  resources: { cpus: 1 },
  env: { DATA_PATH: DIGITS },
  input: { epochs: EPOCHS, batch_size: 5000 / BATCHES, checkpoint_every: EVERY, seed: 7 },
  outputs: ['outputs'],
  placement: { tags: { prefer: ['first'] } },
  lostAfter: '3s',
})

const resultOf = async (id: string) => {
  const job = await ended(house.client, id)
  expect(job).toMatchObject({ state: 'succeeded', reason: null })
  return { job, trained: job.result as unknown as Trained }
}

/** How far a line of the program says it is; null for other lines. */
function stepIn(operation: unknown): number | null {
  const [, epoch, batch] = /^epoch (\d+)\/\d+, batch (\d+)\//.exec(String(operation)) ?? []
  return epoch === undefined ? null : (Number(epoch) - 1) * BATCHES + Number(batch)
}

/** The newest checkpoint of a job that the hub has kept, as it comes. */
function followKept(job: string, signal: AbortSignal): { step: number } {
  const kept = { step: 0 }
  const follow = async () => {
    for await (const { changes } of house.client.feed({ after: 0, signal }))
      for (const change of changes) {
        const { id, checkpoint } = change as { id?: string; checkpoint?: { step: number } }
        if (change.c === 'checkpointed' && id === job && checkpoint !== undefined) kept.step = checkpoint.step
      }
  }
  follow().catch(() => {})
  return kept
}

/** Resolves with the batch the program tells when it has come so far, and the hub has all but one interval of it. */
async function comesTo(step: number, id: string, kept: { readonly step: number }): Promise<number> {
  for await (const told of house.client.events(id)) {
    if (told.event === 'end') throw new Error(`the program ended before batch ${step}`)
    const at = told.event === 'progress' ? stepIn(told.data.operation) : null
    if (at !== null && at >= step && at - kept.step <= EVERY) return at
  }
  throw new Error(`the events ended before batch ${step}`)
}

it(
  'a training whose worker and program are killed at a random batch ends on another worker with the same weights, bit by bit, and repeats at most one interval between checkpoints',
  async context => {
    if ('reason' in environment) return context.skip(environment.reason)
    const seed = printedSeed(givenSeed)
    const target = EVERY + Math.floor(seeded(seed)() * (EPOCHS * BATCHES - 3 * EVERY))
    const args = await showing(environment.python, DIGITS)
    const first = await house.startWorker('w1', { args: [...args, '--tag', 'first'] })
    await house.startWorker('w2', { args })
    const spec = training(environment.python)
    const whole = await resultOf((await house.client.submit(spec)).id)

    const stop = new AbortController()
    const { id } = await house.client.submit(spec)
    const kept = followKept(id, stop.signal)
    const told = await comesTo(target, id, kept)
    const home = kept.step
    first.signal('SIGKILL')
    await house.killKeepers('w1')
    await first.exited

    const { job, trained } = await resultOf(id)
    stop.abort()
    const moment = `seed ${seed}: to be killed at batch ${target}, it told ${told}, the hub had ${home}`
    expect(job, moment).toMatchObject({ attempts: 2, worker: { name: 'w2' }, history: [{ outcome: 'lost' }, {}] })
    expect(trained.trainingMetrics, moment).toEqual(whole.trained.trainingMetrics)
    expect(weightsOf(trained), moment).toBe(weightsOf(whole.trained))
    const from = trained.resumedFrom?.step ?? 0
    expect(from, moment).toBeGreaterThanOrEqual(home)
    expect(told - from, moment).toBeLessThanOrEqual(EVERY)
  },
  PATIENCE_MS,
)

function weightsOf({ artifacts }: Trained): string | undefined {
  return artifacts.find(({ name }) => name === 'model.safetensors')?.sha256
}
