import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import type { Offer } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { unstartedReport } from '../../run/program-end.ts'
import type { Runner } from '../../run/runner.ts'
import { Workspaces } from '../../run/workspace.ts'
import { ForeignJobs } from './foreign-jobs.ts'
import { JobJournal } from './job-journal.ts'
import { fenceOf } from './job-record.ts'
import type { Talk } from './talk.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stoker-foreign-'))
})
afterEach(() => removeTree(folder))

const NEED = { gpus: 0, cpus: 1, memoryBytes: 0 }
const nothing = async () => {}

/** Jobs over a runner that only writes down what it was given. */
function jobsAt(hub: string, talk: Partial<Talk> = {}) {
  const offers: Offer[] = []
  const told: string[] = []
  const runner = { reattach: async () => [], start: (offer: Offer) => offers.push(offer), stop: () => {} }
  const journal = new JobJournal(join(folder, 'jobs'))
  const jobs = new ForeignJobs({
    ...{
      hub,
      journal,
      now: () => 1,
      log: () => {},
      freed: () => {},
      told: () => {},
      workspaces: new Workspaces(join(folder, 'attempts')),
    },
    talkAbout: ({ record }) => ({
      ...{ begin: async () => ({}) as never, started: () => {}, progress: () => {}, output: () => {}, close: nothing },
      finish: async () => void told.push(`${record.id} ${record.end?.outcome}`),
      ...talk,
    }),
  })
  return { jobs, journal, offers, told, start: () => jobs.start(runner as unknown as Runner) }
}

it('begins anew, as another attempt, what was taken and never started', async () => {
  const before = jobsAt('http://a', { begin: () => new Promise(() => {}) })
  await before.start()
  before.jobs.take('x', {}, NEED, [])
  await before.jobs.close()
  const after = jobsAt('http://a')
  await after.start()
  await vi.waitFor(() => expect(after.offers).toHaveLength(1))
  expect(after.offers[0]).toMatchObject({ id: 'x', fence: { epoch: 0, attempt: 2 } })
})

it('keeps the end of a job for its own hub while it serves another', async () => {
  const first = jobsAt('http://a', { finish: () => new Promise(() => {}) })
  await first.start()
  first.jobs.take('x', {}, NEED, [])
  await vi.waitFor(() => expect(first.offers).toHaveLength(1))
  const [record] = first.journal.open
  if (record === undefined) throw new Error('it was not written down')
  first.jobs.report([unstartedReport(fenceOf(record), 2, { outcome: 'failed', error: 'no', note: null })])
  await first.jobs.close()
  const other = jobsAt('http://b')
  await other.start()
  await other.jobs.settled()
  expect({ told: other.told, ids: other.jobs.ids }).toEqual({ told: [], ids: [] })
  const again = jobsAt('http://a')
  await again.start()
  await again.jobs.settled()
  expect(again.told).toEqual(['x failed'])
})

it('does not keep a place for what another hub gave and never started', async () => {
  const first = jobsAt('http://a', { begin: () => new Promise(() => {}) })
  await first.start()
  first.jobs.take('x', {}, NEED, [])
  await first.jobs.close()
  const other = jobsAt('http://b')
  await other.start()
  expect({ ids: other.jobs.ids, offers: other.offers }).toEqual({ ids: [], offers: [] })
  expect(new JobJournal(join(folder, 'jobs')).open).toMatchObject([{ id: 'x', hub: 'http://a' }])
})

it('tells the end of what was begun when the worker leaves, and starts nothing any more', async () => {
  const late: (() => void)[] = []
  const begin = () => new Promise<never>(resolve => late.push(() => resolve({} as never)))
  const { jobs, offers, told, start } = jobsAt('http://a', { begin })
  await start()
  jobs.take('x', {}, NEED, [])
  jobs.drain()
  for (const go of late) go()
  await jobs.settled()
  expect({ offers, told }).toEqual({ offers: [], told: ['x lost'] })
})

it('writes nothing down once it is closed: what is told then is for the next process', async () => {
  const { jobs, journal, offers, start } = jobsAt('http://a')
  await start()
  jobs.take('x', {}, NEED, [])
  await vi.waitFor(() => expect(offers).toHaveLength(1))
  const [record] = journal.open
  if (record === undefined) throw new Error('it was not written down')
  await jobs.close()
  await removeTree(join(folder, 'jobs'))
  const fence = fenceOf(record)
  jobs.report([{ kind: 'running', fence, at: 2, isolation: 'none' }])
  jobs.report([unstartedReport(fence, 3, { outcome: 'failed', error: 'no', note: null })])
  expect(record).toMatchObject({ startedAt: null, end: null })
})
