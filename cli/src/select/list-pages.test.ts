import type { JobFilter } from '@stoker/client'
import type { JobPage } from '@stoker/protocol'
import { expect, test } from 'vitest'
import { aJob, asJob } from '../../../client/src/test-hub.ts'
import { gatherPages } from './list-pages.ts'

/** A hub whose nth page has so many jobs; the last one ends the list. */
function pagesOf(...sizes: readonly number[]) {
  const asked: JobFilter[] = []
  const jobs = async (filter: JobFilter = {}): Promise<JobPage> => {
    const size = sizes[asked.push(filter) - 1] ?? 0
    const next = asked.length < sizes.length ? `c${asked.length}` : null
    return { jobs: Array.from({ length: size }, () => asJob(aJob({}))), next }
  }
  return { asked, jobs }
}

test('a list asks on while pages come back short, for as many jobs as it still lacks', async () => {
  const hub = pagesOf(0, 3, 2, 9)
  const { page, isShort } = await gatherPages(hub, { name: 'rare', limit: 5 })
  expect({ count: page.jobs.length, next: page.next, isShort }).toEqual({ count: 5, next: 'c3', isShort: false })
  expect(hub.asked).toEqual([
    { name: 'rare', limit: 5 },
    { name: 'rare', limit: 5, cursor: 'c1' },
    { name: 'rare', limit: 2, cursor: 'c2' },
  ])
})

test('a list ends where the hub says that it has', async () => {
  const hub = pagesOf(1, 1)
  const { page, isShort } = await gatherPages(hub, {})
  expect({ count: page.jobs.length, next: page.next, isShort }).toEqual({ count: 2, next: null, isShort: false })
})

test('a list of next to nothing stops after a bounded number of requests and says so', async () => {
  const hub = pagesOf(...Array.from({ length: 1_000 }, () => 0))
  const { page, isShort } = await gatherPages(hub, { name: 'rare' })
  expect({ asked: hub.asked.length, next: page.next, isShort }).toEqual({ asked: 20, next: 'c20', isShort: true })
})
