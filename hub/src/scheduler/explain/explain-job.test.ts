import { expect, test } from 'vitest'
import { aHello, aJob, TestHouse } from '../../engine/test-house.ts'
import { packed } from '../packed.ts'
import { explainJob } from './explain-job.ts'

function ask(house: TestHouse, job: number) {
  const found = explainJob(house.state, packed, job, house.now)
  if (found === null) throw new Error(`job ${job} is not live`)
  return found
}

const gpuJob = (gpus: number, more: object = {}) => aJob({ command: 'x', resources: { gpus }, ...more })

test('workers with the same reason are told in one sentence, never apart from not now', () => {
  const house = new TestHouse()
  for (const name of ['a', 'b', 'c']) house.join(aHello(name, { gpus: 2 }))
  for (const name of ['d', 'e']) house.join(aHello(name, { maxJobs: 1 }))
  for (let i = 0; i < 3; i += 1) house.submit(gpuJob(2))
  const { reasons, couldRun, workers } = ask(house, house.submit(gpuJob(2)))
  expect([couldRun, workers]).toEqual([3, 5])
  expect(reasons).toEqual([
    {
      when: 'notNow',
      codes: ['busy.gpus'],
      text: 'needs 2 of the 2 GPUs of each that suit it, 0 are free and 2 taken by jobs',
      workers: { count: 3, names: ['a', 'b', 'c'] },
      closest: null,
      job: null,
    },
    {
      when: 'never',
      codes: ['gpus.count'],
      text: 'needs 2 GPUs, each has 0',
      workers: { count: 2, names: ['d', 'e'] },
      closest: null,
      job: null,
    },
  ])
})

test('where amounts differ the closest worker speaks for the others', () => {
  const house = new TestHouse()
  house.join(aHello('small', { cpus: 2 }))
  house.join(aHello('large', { cpus: 6 }))
  const { reasons } = ask(house, house.submit(aJob({ command: 'x', resources: { cpus: 8 } })))
  expect(reasons).toMatchObject([
    { when: 'never', text: 'needs 8 CPUs, large has 6', closest: 'large', workers: { count: 2 } },
  ])
})

test('the smallest change comes first, and each was tried', () => {
  const house = new TestHouse()
  house.join(aHello('a', { gpus: 4, tags: ['lab'] }))
  house.join(aHello('b', { gpus: 4 }))
  house.submit(gpuJob(1, { placement: { tags: { require: ['lab'] } } }))
  const { changes } = ask(house, house.submit(gpuJob(4, { placement: { tags: { require: ['lab'] } } })))
  expect(changes).toEqual([
    {
      kind: 'spec',
      text: 'with 3 GPUs instead of 4',
      edits: [{ field: 'resources.gpus', from: 4, to: 3 }],
      worker: 'a',
    },
    {
      kind: 'spec',
      text: 'without requiring tag lab',
      edits: [{ field: 'placement.tags.require', from: 'lab', to: null }],
      worker: 'b',
    },
  ])
})

test('a drained, an absent and a held one are named', () => {
  const house = new TestHouse()
  house.join(aHello('w'))
  house.run({ kind: 'drain', worker: 'w', on: true })
  const job = house.submit(aJob())
  expect(ask(house, job).changes).toMatchObject([{ kind: 'resume', worker: 'w' }])
  const held = house.submit(aJob({ hold: true }))
  expect(ask(house, held).changes).toEqual([])
  house.run({ kind: 'drain', worker: 'w', on: false })
  expect(ask(house, held).changes).toMatchObject([{ kind: 'release', worker: 'w' }])
  house.pass(20)
  expect(ask(house, house.submit(aJob())).changes).toMatchObject([{ kind: 'return', worker: 'w' }])
})

test('a worker that is kept for another job is left to a higher priority', () => {
  const house = new TestHouse()
  house.join(aHello('w', { gpus: 2 }))
  house.submit(gpuJob(1))
  const large = house.submit(gpuJob(2, { priority: 3 }))
  house.pass(65, ['w'])
  const small = house.submit(gpuJob(1))
  expect(ask(house, small)).toMatchObject({
    reasons: [{ codes: ['worker.reserved'], job: large }],
    changes: [{ kind: 'priority', text: 'priority 4 instead of 0', worker: 'w' }],
  })
  house.run({ kind: 'setPriority', job: small, priority: 4 })
  expect(house.stateOf(small)).toBe('active')
})

test('a limit is told once, with what would lift it', () => {
  const house = new TestHouse()
  house.join(aHello('w'))
  house.run({ kind: 'setLimits', owner: 'ann', limits: { queued: null, running: 1, gpus: null, bytes: null } })
  house.submit(aJob())
  const { reasons, changes } = ask(house, house.submit(aJob()))
  expect(reasons).toMatchObject([
    { codes: ['owner.limit'], text: 'ann has 1 jobs running, the limit is 1', workers: { count: 1, names: ['w'] } },
  ])
  expect(changes[0]).toMatchObject({ kind: 'limit', edits: [{ field: 'limits.running', from: 1, to: 2 }] })
})

test('jobs ahead are those that compete and come first', () => {
  const house = new TestHouse()
  house.join(aHello('gpu', { gpus: 1, tags: ['gpu'] }))
  house.join(aHello('cpu', { maxJobs: 1 }))
  const only = (name: string) => ({ placement: { worker: name } })
  house.submit(gpuJob(1, only('gpu')))
  house.submit(aJob(only('cpu')))
  for (let i = 0; i < 3; i += 1) house.submit(aJob(only('cpu')))
  for (let i = 0; i < 2; i += 1) house.submit(gpuJob(1, { ...only('gpu'), priority: 5 }))
  const job = house.submit(gpuJob(1, only('gpu')))
  house.submit(gpuJob(1, only('gpu')))
  expect(ask(house, job).position).toEqual({ ahead: 2, isExact: true })
})

test('a start is predicted from the runs of such jobs, and from timeouts before there were any', () => {
  const house = new TestHouse()
  house.join(aHello('w', { maxJobs: 1 }))
  const run = (seconds: number) => {
    const [job] = [...house.state.active.keys()]
    house.pass(seconds, ['w'])
    house.report('w', house.ended(house.fenceOf(job ?? 0), 'completed'))
  }
  const last = (spec = {}) => Array.from({ length: 14 }, () => house.submit(aJob(spec))).at(-1) ?? 0
  const job = last()
  expect(ask(house, job).start).toEqual({ p50: null, p90: null, basis: 'no history', runs: 0 })
  for (let i = 0; i < 10; i += 1) run(10)
  const { start, position } = ask(house, job)
  expect(position).toEqual({ ahead: 2, isExact: true })
  expect(start).toMatchObject({ runs: 10, basis: 'from 10 runs of such jobs' })
  const [p50, p90] = [start?.p50, start?.p90].map(at => ((at ?? 0) - house.now.wall) / 1000)
  expect([p50, p90].map(seconds => Math.round((seconds ?? 0) / 20))).toEqual([2, 2])
  for (let i = 0; i < 4; i += 1) run(10)
  const timed = last({ timeout: 60 })
  expect(ask(house, timed).start?.basis).toBe('from their timeouts')
})

test('behind a limit a job waits for its own, one after the other', () => {
  const house = new TestHouse()
  house.join(aHello('w'))
  house.run({ kind: 'setLimits', owner: 'ann', limits: { queued: null, running: 1, gpus: null, bytes: null } })
  const jobs = Array.from({ length: 8 }, () => house.submit(aJob()))
  for (const job of jobs.slice(0, 4)) {
    house.pass(20, ['w'])
    house.report('w', house.ended(house.fenceOf(job), 'completed'))
  }
  const { start, position } = ask(house, jobs[7] ?? 0)
  expect(position?.ahead).toBe(2)
  const seconds = ((start?.p50 ?? 0) - house.now.wall) / 1000
  expect(seconds).toBeGreaterThan(50)
  expect(seconds).toBeLessThan(95)
})

test('a job that has started or ended has no reasons to wait', () => {
  const house = new TestHouse()
  house.join(aHello('w'))
  const job = house.submit(aJob())
  expect(ask(house, job)).toMatchObject({ couldRun: 1, reasons: [], position: null, start: null, changes: [] })
  house.report('w', house.ended(house.fenceOf(job), 'completed'))
  expect(explainJob(house.state, packed, job, house.now)).toBeNull()
})
