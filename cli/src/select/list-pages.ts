import type { Client, JobFilter } from '@stoker/client'
import type { JobPage } from '@stoker/protocol'

/** The hub's own default, and the most it gives at once. */
const DEFAULT_LIMIT = 50
const LARGEST_PAGE = 1000

/** A request looks at some thousands of jobs; after so many a person would rather narrow the list than wait on. */
const MOST_REQUESTS = 20

/** A list, and whether it stopped short of its limit though more jobs may match. */
export interface GatheredList {
  readonly page: JobPage
  readonly isShort: boolean
}

/** Asks on while pages come back short, because a page looks at a bounded number of jobs however rare the matches are. */
export async function gatherPages(client: Pick<Client, 'jobs'>, filter: JobFilter): Promise<GatheredList> {
  const limit = filter.limit ?? DEFAULT_LIMIT
  const ofPage = (missing: number) => ({ ...filter, limit: Math.min(LARGEST_PAGE, missing) })
  let page = await client.jobs(filter.limit === undefined ? filter : ofPage(limit))
  for (let asked = 1; asked < MOST_REQUESTS && page.next !== null && page.jobs.length < limit; asked++) {
    const more = await client.jobs({ ...ofPage(limit - page.jobs.length), cursor: page.next })
    page = { jobs: [...page.jobs, ...more.jobs], next: more.next }
  }
  return { page, isShort: page.next !== null && page.jobs.length < limit }
}
