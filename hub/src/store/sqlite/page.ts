import type { JobState } from '@stoker/protocol'
import type { JobFilter } from '../port.ts'
import type { Cell } from '../row-keys.ts'

/** One walk down an index, newest job first: the conditions that the index answers and those checked on each row. */
export interface Walk {
  readonly from: string
  /** Names the seq in the order of the walk. */
  readonly seq: string
  readonly where: readonly string[]
  readonly values: readonly Cell[]
}

const LIVE: readonly JobState[] = ['waiting', 'queued', 'active']
const ENDED: readonly JobState[] = ['succeeded', 'failed', 'canceled', 'timed_out']
const ALL = [...LIVE, ...ENDED]

/** The walks whose merged results are the page: one per state where the state leads the index. Names are walked by block. */
export function walksOf(filter: JobFilter): readonly Walk[] {
  if (filter.labels.length > 0) return [labelWalk(filter)]
  if (filter.worker !== null) return [walk('job INDEXED BY job_worker', filter)]
  if (filter.name !== null) return [walk('job INDEXED BY job_name', filter)]
  if (filter.owner !== null) return stateWalks(filter, () => 'job INDEXED BY job_owner')
  if (filter.type !== null) return [walk('job INDEXED BY job_type', filter)]
  if (filter.states === null) return [walk('job NOT INDEXED', filter)]
  return stateWalks(filter, state => `job INDEXED BY ${LIVE.includes(state) ? 'job_live' : 'job_ended'}`)
}

/** The statement of merged walks with its values: each walk stops at the limit, so the page costs limit × walks at most. */
export function pageQuery(walks: readonly Walk[], before: number, limit: number): { text: string; values: Cell[] } {
  const parts = walks.map(
    ({ from, seq, where }) => `SELECT ${seq} AS seq FROM ${from} WHERE ${[...where, `${seq} < ?`].join(' AND ')}`,
  )
  const merged = `${parts.join(' UNION ALL ')} ORDER BY seq DESC LIMIT ?`
  return {
    text: `SELECT job.* FROM (${merged}) AS found CROSS JOIN job ON job.seq = found.seq ORDER BY found.seq DESC`,
    values: [...walks.flatMap(each => [...each.values, before]), limit],
  }
}

function stateWalks(filter: JobFilter, from: (state: JobState) => string): readonly Walk[] {
  const states = ALL.filter(state => filter.states === null || filter.states.includes(state))
  return states.map(state => walk(from(state), { ...filter, states: [state] }))
}

function walk(from: string, filter: JobFilter): Walk {
  const equal = (['owner', 'type', 'worker', 'name'] as const).filter(column => filter[column] !== null)
  const where = equal.map(column => `job.${column} = ?`)
  const values: Cell[] = equal.map(column => filter[column])
  return { from, seq: 'job.seq', where: [...where, ...stateTerm(filter.states)], values }
}

/** States are written into the text, because a partial index is only used for a state SQLite can see. */
function stateTerm(states: readonly JobState[] | null): readonly string[] {
  if (states === null) return []
  const known = ALL.filter(state => states.includes(state)).map(state => `job.state = '${state}'`)
  return [known.length === 0 ? 'FALSE' : `(${known.join(' OR ')})`]
}

function labelWalk(filter: JobFilter): Walk {
  const rest = walk('', filter)
  const [, ...others] = filter.labels
  const also = others.map(
    () => 'EXISTS (SELECT 1 FROM label AS other WHERE other."key" = ? AND other.value = ? AND other.job = label.job)',
  )
  return {
    from: 'label CROSS JOIN job ON job.seq = label.job',
    seq: 'label.job',
    where: ['label."key" = ?', 'label.value = ?', ...also, ...rest.where],
    values: [...filter.labels.flatMap(({ key, value }) => [key, value]), ...rest.values],
  }
}
