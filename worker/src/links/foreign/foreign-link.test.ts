import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import type { Offer } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { unstartedReport } from '../../run/program-end.ts'
import type { Runner } from '../../run/runner.ts'
import { Workspaces } from '../../run/workspace.ts'
import { type Desk, ForeignLink } from './foreign-link.ts'
import { JobJournal } from './job-journal.ts'
import type { HeldJob } from './talk.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stoker-foreign-'))
})
afterEach(() => removeTree(folder))

const FINE = { status: 200, json: null, text: '' }
const silent = () => {}

/** A link whose hub says nothing of its own; `answer` lets it have heard the last word. */
function aLink() {
  const offers: Offer[] = []
  const repeated: string[] = []
  let desk: Desk | null = null
  let answer = silent
  const answered = new Promise<void>(resolve => {
    answer = resolve
  })
  const finish = async (job: HeldJob) => {
    job.record.said = 'the end'
    await answered
  }
  const link = new ForeignLink(
    {
      ...{ hub: 'http://a', journal: new JobJournal(join(folder, 'jobs')) },
      ...{ workspaces: new Workspaces(join(folder, 'attempts')), samples: () => [], hangUp: silent },
      ...{ pollMs: 60_000, heartbeatMs: 60_000, backoff: { baseMs: 1, maxMs: 1 }, random: () => 0 },
      ...{ now: () => 1, log: silent, connection: silent, ready: silent, refused: silent },
    },
    given => {
      desk = given
      return {
        ...{
          hasRoom: false,
          register: async () => {},
          beat: async () => FINE,
          ask: async () => {},
          goodbye: async () => {},
        },
        repeat: async (id, said) => repeated.push(`${id}: ${said}`),
        talkAbout: job => ({
          ...{ begin: async () => ({}) as never, started: silent, progress: silent, output: silent },
          ...{ finish: () => finish(job), close: async () => {} },
        }),
      }
    },
  )
  const runner = { reattach: async () => [], start: (offer: Offer) => offers.push(offer), stop: silent }
  const offer = (id: string) => {
    desk?.offered(id, () => desk?.jobs.take(id, {}, { gpus: 0, cpus: 1, memoryBytes: 0 }, []))
  }
  return { link, offers, repeated, offer, answer: () => answer(), start: () => link.start(runner as unknown as Runner) }
}

it('tells again, once the hub has answered, the end of what was offered while the end was on its way', async () => {
  const { link, offers, repeated, offer, answer, start } = aLink()
  await start()
  offer('x')
  await vi.waitFor(() => expect(offers).toHaveLength(1))
  offer('x')
  const [first] = offers
  if (first === undefined) throw new Error('nothing was started')
  link.report([unstartedReport(first.fence, 2, { outcome: 'failed', error: 'no', note: null })])
  offer('x')
  expect(repeated).toEqual([])
  answer()
  await vi.waitFor(() => expect(repeated).toEqual(['x: the end']))
  offer('x')
  await vi.waitFor(() => expect(repeated).toHaveLength(2))
  expect(offers).toHaveLength(1)
  await link.close()
})
