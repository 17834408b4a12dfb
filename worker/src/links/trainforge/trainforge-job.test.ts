import { expect, it } from 'vitest'
import { ABILITIES } from '../test-link-bench.ts'
import { jobsIn, needOf, type Project, specOf } from './trainforge-job.ts'

const MACHINE = { maxJobs: 2, cpus: 1, memoryBytes: 8 * 2 ** 30, gpus: [] }
const aProject = (...files: readonly string[]): Project => ({
  ...{ sha256: 'a'.repeat(64), size: 10, files: new Set(files), requirements: null },
})
const aJob = (more: object = {}) => {
  const [job] = jobsIn([{ job_id: 'j', ...more }])
  if (job === undefined) throw new Error('no job')
  return job
}

it('reads the poll form', () => {
  const listed = { job_id: '3f0c', resources: { gpu: 2, cpu: 1.5, memory: '4Gi' }, training: { script: 'sub/t.py' } }
  expect(jobsIn([listed])).toEqual([
    { id: '3f0c', script: 'sub/t.py', gpus: 2, cpus: 2, memoryBytes: 4 * 2 ** 30, env: {} },
  ])
})

it('reads the record form, with its yaml', () => {
  const config = {
    training: { script: 'go.py' },
    resources: { gpu: false, cpu: 3 },
    environment: { env: { A: 1, B: { no: 1 } }, variables: { C: 'x' } },
  }
  expect(jobsIn([{ id: 9, status: 'pending', config }])).toMatchObject([
    { id: '9', script: 'go.py', gpus: 0, cpus: 3, env: { A: '1', C: 'x' } },
  ])
})

it('gives what is left out its documented meaning', () => {
  expect(aJob()).toEqual({ id: 'j', script: null, gpus: 1, cpus: null, memoryBytes: null, env: {} })
  expect(needOf(aJob(), MACHINE)).toEqual({ gpus: 1, cpus: 1, memoryBytes: 2 ** 30 })
  expect(aJob({ resources: null, training: null })).toMatchObject({ gpus: 1, script: null })
})

it('leaves out what is no job, and what is not waiting', () => {
  expect(jobsIn([null, 1, {}, { job_id: '' }, { job_id: 'a\0' }, { job_id: 'b', status: 'running' }])).toEqual([])
  expect(jobsIn({ jobs: [] })).toEqual([])
})

it('starts the script that was named, or the first of the usual ones', () => {
  const spec = (job: object, ...files: readonly string[]) =>
    specOf(aJob(job), needOf(aJob(job), MACHINE), aProject(...files), ABILITIES)
  expect(spec({}, 'main.py', 'run.py')).toMatchObject({
    command: ['python3', 'main.py'],
    env: { TRAINFORGE_JOB_ID: 'j', PYTHONUNBUFFERED: '1' },
    files: [{ path: '.', unpack: 'zip' }],
  })
  expect(spec({ training: { script: './a b.py' } }, 'a b.py')).toMatchObject({ command: ['python3', 'a b.py'] })
  expect(spec({}, 'x.py')).toBe('the project has no train.py, main.py, run.py; it has x.py')
  for (const script of ['../x.py', '/etc/passwd', '-c', 'gone.py'])
    expect(spec({ training: { script } }, 'x.py')).toBe(`the project has no ${script}; it has x.py`)
})
