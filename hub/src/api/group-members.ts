import { type GroupRow, type JobRow, type JobState, Refused, readSpec } from '@stoker/protocol'
import type { NewGroup, NewJob } from '../engine/commands.ts'
import type { Queries } from '../store/port.ts'
import type { RouteContext } from './context.ts'
import { membersOf } from './group-ref.ts'

const PAGE = 1000

/** The members in these states, in their order. */
export async function membersIn(
  { page }: Pick<Queries, 'page'>,
  group: GroupRow,
  states: readonly JobState[],
): Promise<readonly JobRow[]> {
  const filter = { owner: null, states, type: null, worker: null, name: null, labels: [], seqs: membersOf(group) }
  const found: JobRow[] = []
  for (let before: number | null = null; ; ) {
    const { rows, next }: Awaited<ReturnType<Queries['page']>> = await page(filter, before, PAGE)
    found.push(...rows)
    if (next === null) return found.reverse()
    before = next
  }
}

/** New jobs for the members that did not succeed, in a group that names the old one. */
export async function retriedMembers(
  { queries, newId }: Pick<RouteContext, 'queries' | 'newId'>,
  group: GroupRow,
): Promise<{ readonly jobs: readonly NewJob[]; readonly groups: readonly NewGroup[] }> {
  const rows = await membersIn(queries, group, ['failed', 'timed_out', 'canceled'])
  if (rows.length === 0) {
    const going = group.waiting + group.queued + group.active
    throw new Refused(
      'group.nothing_failed',
      `group ${group.id} has ${group.succeeded} jobs that succeeded and ${going} that have not ended; none failed, timed out or was canceled`,
    )
  }
  const jobs = rows.map(row => ({ id: newId(), spec: readSpec(row.spec), specText: row.spec, retryOf: row.id }))
  const { name, maxParallel } = group
  return { jobs, groups: [{ id: newId(), name, first: 0, size: jobs.length, maxParallel, retryOf: group.id }] }
}
