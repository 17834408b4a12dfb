import { ProgramWatch } from '@stoker/protocol'
import { describe, expect, it } from 'vitest'
import { attemptId, readAttemptId } from './attempt-id.ts'
import { type Ending, endByLeaving, endByNode, endByRunner, type SaidByRunner } from './ends.ts'
import { arePossiblyInvented } from './invented-gpus.ts'
import { readNote } from './note.ts'
import { readRegistration } from './registration.ts'
import { RepeatedBatches } from './repeated-batches.ts'
import { USUAL_SETTINGS, workerFacts } from './worker-facts.ts'
import { isPassing, wrongId } from './worker-id.ts'

const JOB = '01a1e4a6-cff4-7842-a418-5e7794d4afda'
const PAIR = [
  { gpu_id: 0, name: 'NVIDIA GeForce RTX 3080', memory_mb: 10_240 },
  { gpu_id: 1, name: 'NVIDIA GeForce RTX 3090', memory_mb: 24_576 },
]
const NODE = {
  worker_info: {
    worker_id: 'gpu-node-1',
    hostname: 'box7',
    platform: 'linux',
    python_version: '3.11.2 (main) [GCC 12.2.0]',
    cpu_count: 16,
    memory_total_gb: 23.540592,
    disk_total_gb: 251.972278,
    gpu_count: 2,
    gpus: PAIR,
  },
  capabilities: { max_concurrent_jobs: 4, supports_gpu: true, supports_docker: false },
}

describe('ids', () => {
  it.each(['register', 'jobs', 'strategy', '', '.', '..', 'a\nb', 'x'.repeat(201), undefined, 7, '\ud800'])(
    'of workers are refused with a sentence: %j',
    id => {
      expect(wrongId(id)).toMatch(/^worker_id /)
    },
  )

  it.each(['gpu-node-1', 'w/ x', 'registered', 'ü', 'x'.repeat(200)])('of workers may be %j', id => {
    expect(wrongId(id)).toBeNull()
  })

  it('made from a process are never used again', () => {
    expect([isPassing('worker_box7_4711'), isPassing('worker_box7'), isPassing('gpu-1')]).toEqual([true, false, false])
  })

  it('of attempts name the job, and from the second on the attempt', () => {
    for (const attempt of [1, 2, 17]) expect(readAttemptId(attemptId(JOB, attempt))).toEqual({ job: JOB, attempt })
    for (const wrong of [`${JOB}.1`, `${JOB}.0`, `${JOB}.`, `${JOB}.1x`, 'x', `../${JOB}`, ''])
      expect(readAttemptId(wrong)).toBeNull()
  })
})

describe('a registration', () => {
  const facts = (body: unknown, settings = USUAL_SETTINGS) => {
    const found = readRegistration(body)
    if (found === null) throw new Error('nothing was read')
    return workerFacts({ id: 'w', owner: 'ann', told: found.told, address: '10.0.0.1', settings, remarks: '' })
  }

  it('of a node says what it has, and that its GPUs may be made up', () => {
    const { hardware, abilities, cpusMilli, memoryMb, maxJobs } = facts(NODE)
    expect({ cpusMilli, memoryMb, maxJobs }).toEqual({ cpusMilli: 16_000, memoryMb: 25_276, maxJobs: 4 })
    expect(hardware.gpus.map(({ simulated }) => simulated)).toEqual([true, true])
    expect(hardware.gpuNote).toContain('possibly simulated')
    expect(abilities.foreign).toMatchObject({ dialect: 'trainforge', maxGpus: 1 })
  })

  it('with one figure else is not suspected', () => {
    const gpus = [PAIR[0], { ...PAIR[1], memory_mb: 24_268 }]
    expect(facts({ ...NODE, worker_info: { ...NODE.worker_info, gpus } }).hardware.gpuNote).toBeNull()
    expect(arePossiblyInvented([])).toBe(false)
  })

  it('is for CPU only where the operator does not trust its GPUs', () => {
    const { hardware, abilities } = facts(NODE, { ...USUAL_SETTINGS, trustGpus: false })
    expect(hardware.gpus).toEqual([])
    expect(abilities.foreign?.maxGpus).toBe(0)
  })

  it('with a Docker daemon gets nothing and says what to do, unless the operator decides otherwise', () => {
    const docker = { ...NODE, capabilities: { ...NODE.capabilities, supports_docker: true } }
    expect(facts(docker).abilities).toMatchObject({ executors: [], note: expect.stringContaining('DOCKER_HOST') })
    expect(facts(docker).abilities.foreign?.types).toEqual({})
    expect(facts(docker, { ...USUAL_SETTINGS, allowDocker: true }).abilities.executors).toEqual(['process'])
  })

  it('leaves out GPUs a node never gives to a job', () => {
    const gpus = [{ gpu_id: 0, name: 'GT 1030', memory_mb: 2048 }]
    const { hardware } = facts({ ...NODE, worker_info: { ...NODE.worker_info, gpus } })
    expect(hardware).toMatchObject({ gpus: [], gpuNote: expect.stringContaining('never used') })
  })

  it('of a notebook is flat', () => {
    const colab = { worker_id: 'c', status: 'idle', worker_type: 'external_colab', location: 'google_colab' }
    const able = { gpu_name: 'Tesla T4', gpu_memory_gb: 15, capabilities: { gpu_count: 1, max_memory_gb: 12 } }
    expect(readRegistration({ ...colab, ...able })?.told).toMatchObject({
      kind: 'flat',
      maxJobs: 1,
      gpus: [{ index: 0, name: 'Tesla T4', memoryMb: 15_360 }],
    })
    const kaggle = { worker_id: 'k', platform: 'kaggle', gpu_available: false, gpu_name: 'None', status: 'idle' }
    expect(readRegistration(kaggle)?.told.gpus).toEqual([])
  })

  it('that says nonsense of itself is read as far as it goes', () => {
    const info = { worker_id: 'w', cpu_count: 'many', memory_total_gb: -1, gpus: 'none' }
    const told = readRegistration({ worker_info: info, capabilities: { max_concurrent_jobs: 1e9 } })?.told
    expect(told).toMatchObject({ cpus: 1, memoryMb: 0, gpus: [], maxJobs: 1, docker: false })
    for (const body of [null, undefined, 7, 'x', [], {}, { worker_info: null }])
      expect(readRegistration(body)).toBeNull()
  })
})

describe('an end', () => {
  const ending = (over: Partial<Ending> = {}): Ending => ({
    fence: { job: 1, epoch: 1, attempt: 1 },
    now: 1000,
    startedAt: null,
    canceledBy: null,
    watch: new ProgramWatch(() => {}),
    ...over,
  })
  const node = (status: 'completed' | 'failed', exitCodes: readonly (number | null)[], over = {}) =>
    endByNode(ending(over), { status, exitCodes, error: null, lacksOutputs: false })
  const runner = (said: Partial<SaidByRunner>, over = {}) =>
    endByRunner(ending(over), {
      exitCode: 0,
      signal: null,
      endedBy: 'itself',
      startError: null,
      note: null,
      artifacts: [],
      outputError: null,
      ...said,
    })

  it.each([
    ['completed', [0], 'completed', 0, null],
    ['completed', [null], 'completed', null, null],
    ['failed', [3], 'failed', 3, 'exited with code 3'],
    ['failed', [-9], 'failed', null, 'killed by SIGKILL'],
    ['failed', [0, 5], 'failed', 5, 'exited with code 5'],
    ['failed', [], 'failed', null, 'its worker reported a failure without a reason'],
  ] as const)('of a node that says %s %j', (status, codes, outcome, exitCode, error) => {
    expect(node(status, codes)).toMatchObject({ outcome, exitCode, error })
  })

  it('whose exit code nobody knows says so', () => {
    expect(node('completed', [null]).note).toBe('exit code unknown')
  })

  it('without the outputs that were asked for is no success', () => {
    const said = { status: 'completed', exitCodes: [0], error: null, lacksOutputs: true } as const
    expect(endByNode(ending(), said)).toMatchObject({ outcome: 'failed', error: expect.stringContaining('outputs') })
  })

  it('of a job someone canceled is a cancel, whatever came of it', () => {
    const canceledBy = 'canceled by ann'
    expect(node('completed', [0], { canceledBy })).toMatchObject({ outcome: 'canceled', error: canceledBy })
    expect(endByLeaving(ending({ canceledBy })).outcome).toBe('canceled')
    expect(runner({ exitCode: null, signal: 'SIGTERM', endedBy: 'cancel' }, { canceledBy }).outcome).toBe('canceled')
  })

  it('of a worker that leaves is a loss, not a failure', () => {
    expect(endByLeaving(ending())).toMatchObject({ outcome: 'lost', error: 'its worker was shut down' })
    expect(runner({ endedBy: 'leaving', exitCode: 143 }).outcome).toBe('lost')
  })

  it.each([
    [{ exitCode: 2 }, 'failed', 'exited with code 2'],
    [{ endedBy: 'deadline' as const, exitCode: 143 }, 'timed_out', 'Task timeout exceeded'],
    [{ startError: 'no such file' }, 'failed', 'no such file'],
    [{ outputError: 'gone' }, 'failed', 'its outputs could not be kept: gone'],
  ])('of a runner that says %j', (said, outcome, error) => {
    expect(runner(said)).toMatchObject({ outcome, error })
  })

  it('keeps what the program said of it', () => {
    const watch = new ProgramWatch(() => {})
    watch.push('stdout', Buffer.from('{"event":"finish","status":"failed","error":"no luck","result":{"n":1}}\n'))
    expect(runner({}, { watch })).toMatchObject({ outcome: 'failed', error: 'no luck', result: { n: 1 } })
  })
})

it('a batch that is like the last one of its job is a repeat', () => {
  const batches = new RepeatedBatches()
  const batch = { logs: [{ message: 'a', timestamp: 1 }] }
  expect(batches.isRepeated('j', batch)).toBe(false)
  expect(batches.isRepeated('j', batch)).toBe(true)
  expect(batches.isRepeated('k', batch)).toBe(false)
  expect(batches.isRepeated('j', { logs: [{ message: 'a', timestamp: 2 }] })).toBe(false)
})

it('a note of another version says nothing', () => {
  expect([readNote(null), readNote({ v: 2 }), readNote([])]).toEqual([null, null, null])
})
