import { type DependencyKind, isTerminal, Refused } from '@stoker/protocol'
import { type Facts, type NewJob, StaleFacts } from '../commands.ts'
import { type Edge, isMetBy } from '../edges.ts'
import type { State } from '../state.ts'
import { presentState } from '../waiting.ts'
import { refuseCycle } from './cycle.ts'
import { tooLate } from './settle.ts'

/** A full batch of jobs with ten dependencies each; the check of a batch stays within some tens of milliseconds. */
const MAX_EDGES = 100_000
/** More would only repeat the same mistake. */
const MOST_ISSUES = 100

interface Submit {
  readonly owner: string
  readonly jobs: readonly NewJob[]
}

/** The edges of each job of a batch that are not met yet. Refuses what can never be met, with the place of each. */
export function edgesOf(state: State, submit: Submit, facts: Facts): readonly (readonly Edge[])[] {
  const { jobs } = submit
  const count = jobs.reduce((sum, { spec }) => sum + spec.dependsOn.length, 0)
  if (count === 0) return []
  if (count > MAX_EDGES)
    throw new Refused('spec.invalid', `the jobs have ${count} dependencies; allowed: up to ${MAX_EDGES} in one submit`)
  refuseTwins(jobs)
  const firstSeq = state.lastSeq + 1
  const members = new Map(jobs.map(({ id }, index) => [id, firstSeq + index]))
  const issues: { readonly path: string; readonly message: string }[] = []
  const edges = jobs.map(({ spec }, index) =>
    spec.dependsOn.flatMap(({ job: id, on: kind }, place) => {
      const found = members.get(id) ?? lookOutside(state, submit.owner, id, kind, facts)
      if (typeof found === 'number') return [{ job: firstSeq + index, dependency: found, id, kind }]
      if (found !== null) issues.push({ path: pathOf(jobs, index, place), message: found })
      return []
    }),
  )
  if (issues.length > 0)
    throw new Refused('dependency.unmeetable', issues[0]?.message ?? '', issues.slice(0, MOST_ISSUES))
  refuseCycle(edges, firstSeq)
  return edges
}

/** The seq to wait for, null if it ended as asked already, or the sentence that says why it never will. A job of another owner does not exist. */
function lookOutside(
  state: State,
  owner: string,
  id: string,
  kind: DependencyKind,
  facts: Facts,
): number | string | null {
  const known = facts.dependencies.get(id)
  if (known === undefined || known.owner !== owner) return `found ${id}; no job of ${owner} has this id`
  const present = presentState(state, known.seq) ?? known.state
  if (isTerminal(present)) return isMetBy(kind, present) ? null : tooLate(kind, id, present)
  if (presentState(state, known.seq) === null) throw new StaleFacts(`job ${id} has ended since it was read`)
  return known.seq
}

function refuseTwins(jobs: readonly NewJob[]): void {
  const issues = jobs.flatMap(({ spec }, index) => {
    const ids = spec.dependsOn.map(({ job }) => job)
    if (new Set(ids).size === ids.length) return []
    const place = ids.findIndex((id, at) => ids.indexOf(id) < at)
    return [{ path: pathOf(jobs, index, place), message: `found job ${ids[place]} twice; each is named once` }]
  })
  if (issues.length > 0) throw new Refused('spec.invalid', issues[0]?.message ?? '', issues.slice(0, MOST_ISSUES))
}

function pathOf(jobs: readonly unknown[], index: number, place: number): string {
  return `${jobs.length === 1 ? '' : `jobs[${index}].`}dependsOn[${place}]`
}
