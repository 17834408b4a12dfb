import { JobState } from '@stoker/protocol'
import { drivingPart, MOST_LOOKED_AT } from '../page-bounds.ts'
import type { JobFilter } from '../port.ts'
import type { Cell } from '../row-keys.ts'

/** A statement and its values, which depend on where the page begins. */
export interface PageQuery {
  readonly text: string
  values(before: number): readonly Cell[]
}

interface Term {
  readonly text: string
  readonly values: readonly Cell[]
}

/** The jobs of a page, newest first; takes the limit as its last value. */
export function foundText(filter: JobFilter): PageQuery {
  const looked = candidates(filter)
  const terms = termsOf(filter)
  const where = terms.length === 0 ? '' : `WHERE ${terms.map(term => term.text).join(' AND ')}`
  return {
    text: `SELECT job.* FROM (${looked.text} LIMIT ${MOST_LOOKED_AT}) AS looked
      CROSS JOIN job ON job.seq = looked.seq ${where} ORDER BY looked.seq DESC LIMIT ?`,
    values: before => [...looked.values(before), ...terms.flatMap(term => term.values)],
  }
}

/** The last job a page looks at and the one after it; fewer than two when the page reaches the end of the list. */
export function lookedText(filter: JobFilter): PageQuery {
  const looked = candidates(filter)
  return { text: `${looked.text} LIMIT 2 OFFSET ${MOST_LOOKED_AT - 1}`, values: looked.values }
}

/** Walks down an index from the newest job; several states are several walks that SQLite merges in order. */
function candidates(filter: JobFilter): PageQuery {
  const { seqs, labels, states, owner } = drivingPart(filter)
  if (seqs !== undefined) {
    const text = 'SELECT seq FROM job NOT INDEXED WHERE seq >= ? AND seq < ? ORDER BY seq DESC'
    return { text, values: before => [seqs.from, Math.min(seqs.to, before)] }
  }
  const [label] = labels
  if (label !== undefined) {
    const text = 'SELECT job AS seq FROM label WHERE "key" = ? AND value = ? AND job < ? ORDER BY job DESC'
    return { text, values: before => [label.key, label.value, before] }
  }
  if (states !== null) {
    const wanted = JobState.options.filter(state => states.includes(state))
    const walk = 'SELECT seq FROM job INDEXED BY job_state WHERE state = ? AND seq < ?'
    const text = `${wanted.map(() => walk).join(' UNION ALL ')} ORDER BY seq DESC`
    return { text, values: before => wanted.flatMap(state => [state, before]) }
  }
  if (owner !== null) {
    const text = 'SELECT seq FROM job INDEXED BY job_owner WHERE owner = ? AND seq < ? ORDER BY seq DESC'
    return { text, values: before => [owner, before] }
  }
  return { text: 'SELECT seq FROM job NOT INDEXED WHERE seq < ? ORDER BY seq DESC', values: before => [before] }
}

/** What each job looked at is checked for. The states of a list driven by them hold already. */
function termsOf(filter: JobFilter): readonly Term[] {
  const driving = drivingPart(filter)
  const equal = (['owner', 'type', 'worker', 'name'] as const)
    .filter(column => filter[column] !== null && driving[column] === null)
    .map(column => ({ text: `job.${column} = ?`, values: [filter[column]] }))
  const states = driving.states === null && filter.states !== null ? [stateTerm(filter.states)] : []
  return [...equal, ...states, ...filter.labels.slice(driving.labels.length).map(labelTerm)]
}

function stateTerm(states: readonly JobState[]): Term {
  return { text: `job.state IN (${states.map(() => '?').join(', ')})`, values: states }
}

function labelTerm({ key, value }: JobFilter['labels'][number]): Term {
  const text = 'EXISTS (SELECT 1 FROM label WHERE label."key" = ? AND label.value = ? AND label.job = job.seq)'
  return { text, values: [key, value] }
}
