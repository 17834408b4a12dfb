import { type JobSpecInput, type Offer, parseJobSpec } from '@stoker/protocol'
import { describe, expect, it } from 'vitest'
import { programEnv } from './environment.ts'

function anOffer(spec: JobSpecInput): Offer {
  const parsed = parseJobSpec({ command: 'x', ...spec })
  if (!parsed.ok) throw new Error('bad spec')
  return { fence: { job: 1, epoch: 1, attempt: 1 }, id: 'the-id', spec: parsed.spec, gpus: [] }
}

const ONE_THREAD = {
  ...{ OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' },
  ...{ NUMEXPR_NUM_THREADS: '1', RAYON_NUM_THREADS: '1' },
}

const surroundings = {
  isolation: 'sandbox' as const,
  workerEnv: { PATH: '/usr/bin:/bin', HOME: '/home/ann', SECRET: 'hidden', TZ: 'UTC', STOKER_JOIN: 'token' },
  python: '/opt/python/bin/python3',
  modelsFolder: '/data/no-models',
  gpus: [],
}

describe('the environment of a program', () => {
  it('is exactly this', () => {
    expect(programEnv(anOffer({ input: { epochs: 3 }, env: { A: 'b' } }), surroundings)).toEqual({
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      PATH: '/opt/python/bin:/usr/bin:/bin',
      HOME: '/work',
      ...ONE_THREAD,
      PYTHONUNBUFFERED: '1',
      MODEL_NAME: '',
      METADATA_EPOCHS: '3',
      TASK_METADATA: '{"epochs":3}',
      A: 'b',
      TASK_ID: 'the-id',
      STOKER_JOB_ID: 'the-id',
      CHECKPOINT_DIR: '/work/checkpoints',
      MODEL_PATH: '/data/no-models',
      GPU_DEVICE: '',
      CUDA_VISIBLE_DEVICES: '',
      NVIDIA_VISIBLE_DEVICES: 'void',
    })
  })

  it('lets the spec override metadata, never what the worker knows for certain', () => {
    const env = programEnv(
      anOffer({ input: { x: 1 }, env: { METADATA_X: '2', TASK_ID: 'forged', PYTHONUNBUFFERED: '' } }),
      surroundings,
    )
    expect(env).toMatchObject({ METADATA_X: '2', TASK_ID: 'the-id', PYTHONUNBUFFERED: '' })
  })

  it('has as many threads as the job has processors, over all its ranks', () => {
    const threads = (spec: JobSpecInput, gpus: readonly string[] = []) =>
      programEnv({ ...anOffer(spec), gpus: [...gpus] }, surroundings).OMP_NUM_THREADS
    expect(threads({ resources: { cpus: 3 } })).toBe('3')
    expect(threads({ resources: { cpus: 8 }, ranks: 2 })).toBe('4')
    expect(threads({ resources: { cpus: 8, gpus: 4 }, ranks: 'gpus' }, ['a', 'b', 'c', 'd'])).toBe('2')
    expect(threads({ resources: { cpus: 3 }, env: { OMP_NUM_THREADS: '9' } })).toBe('9')
  })

  it('names exactly the devices of the job; simulated ones are never shown to CUDA', () => {
    const real = { uuid: 'GPU-a', index: 1, simulated: false }
    expect(programEnv(anOffer({}), { ...surroundings, gpus: [real] })).toMatchObject({
      GPU_DEVICE: '1',
      CUDA_VISIBLE_DEVICES: 'GPU-a',
      NVIDIA_VISIBLE_DEVICES: 'GPU-a',
    })
    expect(programEnv(anOffer({}), { ...surroundings, gpus: [{ ...real, simulated: true }] })).toMatchObject({
      GPU_DEVICE: '1',
      CUDA_VISIBLE_DEVICES: '',
    })
  })

  it('leaves to an image its own PATH, HOME and locale, and shows it no device it was not given', () => {
    const container = { ...surroundings, isolation: 'container' as const, modelsFolder: '/models' }
    const offer = anOffer({ image: 'tool', model: { name: 'llama' }, input: { a: true } })
    expect(programEnv(offer, container)).toEqual({
      ...ONE_THREAD,
      PYTHONUNBUFFERED: '1',
      MODEL_NAME: 'llama',
      METADATA_A: 'True',
      TASK_METADATA: '{"a":true}',
      TASK_ID: 'the-id',
      STOKER_JOB_ID: 'the-id',
      CHECKPOINT_DIR: '/work/checkpoints',
      MODEL_PATH: '/models',
      GPU_DEVICE: '',
      CUDA_VISIBLE_DEVICES: '',
      NVIDIA_VISIBLE_DEVICES: 'void',
    })
    const gpus = [{ uuid: 'SIM-0', index: 0, simulated: true }]
    expect(programEnv(offer, { ...container, gpus })).toMatchObject({ GPU_DEVICE: '0', NVIDIA_VISIBLE_DEVICES: 'void' })
  })

  it('names a session where the job is one, and lets the spec name the model', () => {
    const env = programEnv(anOffer({ session: {}, env: { MODEL_NAME: 'mine' } }), surroundings)
    expect(env).toMatchObject({ SESSION_ID: 'the-id', MODEL_NAME: 'mine' })
  })

  it('has the home of the worker only without a sandbox', () => {
    expect(programEnv(anOffer({}), { ...surroundings, isolation: 'none' }).HOME).toBe('/home/ann')
  })

  it('of a session is that of the task it is started for, with the id of the session', () => {
    const session = anOffer({ session: {}, input: { a: 1 } })
    const opener = { ...anOffer({ input: { b: 2 } }), id: 'the-task' }
    const { TASK_ID, SESSION_ID, STOKER_JOB_ID, METADATA_A, METADATA_B } = programEnv(session, {
      ...surroundings,
      opener,
    })
    expect([TASK_ID, SESSION_ID, STOKER_JOB_ID]).toEqual(['the-task', 'the-id', 'the-id'])
    expect([METADATA_A, METADATA_B]).toEqual([undefined, '2'])
    expect(programEnv(session, surroundings)).toMatchObject({
      TASK_ID: 'the-id',
      SESSION_ID: 'the-id',
      METADATA_A: '1',
    })
  })
})
