import type { Client } from '@stoker/client'
import { gatherPages } from './list-pages.ts'
import type { Selection, SelectOptions } from './resolve-jobs.ts'

/** How far back a retry is looked for: as far as the jobs themselves are. */
const MOST_JOBS = 10_000

/** Without the jobs that a newer one already repeats: `retry failed` twice makes no job twice. A job named by its id stays. */
export async function notRetried(
  client: Pick<Client, 'jobs' | 'me'>,
  selection: Selection,
  of: SelectOptions,
): Promise<Selection> {
  if (selection.isNamed || selection.ids.length === 0) return selection
  const owner = of.owner ?? (await client.me()).owner
  const { page } = await gatherPages(client, { owner, label: of.label, limit: MOST_JOBS })
  const repeated = new Set(page.jobs.map(job => job.retryOf))
  return { ...selection, ids: selection.ids.filter(id => !repeated.has(id)) }
}
