import { isTerminal, Refused } from '@stoker/protocol'
import { type Facts, type NewJob, StaleFacts } from '../commands.ts'
import { type Edge, isMetBy } from '../edges.ts'
import type { State } from '../state.ts'
import { presentState } from '../waiting.ts'
import { refuseCycle } from './cycle.ts'
import { tooLate } from './settle.ts'

/** More than a full batch of jobs with ten dependencies each; the check of a batch stays within some tens of milliseconds. */
const MAX_EDGES = 100_000

interface Issue {
  readonly path: string
  readonly message: string
}

/** The edges of each job of a batch that are not met yet. Refuses what can never be met, with the place of each. */
export function edgesOf(
  state: State,
  { owner, jobs }: { readonly owner: string; readonly jobs: readonly NewJob[] },
  facts: Facts,
): readonly (readonly Edge[])[] {
  if (jobs.every(({ spec }) => spec.dependsOn.length === 0)) return []
  const members = new Map(jobs.map(({ id }, index) => [id, state.lastSeq + 1 + index]))
  const unmeetable: Issue[] = []
  const edges = jobs.map((job, index) => {
    const resolve = new Resolver(state, owner, members, facts)
    return job.spec.dependsOn.flatMap(({ job: id, on: kind }, place) => {
      const found = resolve.find(id, kind)
      if (typeof found === 'number') return [{ job: state.lastSeq + 1 + index, dependency: found, id, kind }]
      if (found !== null) unmeetable.push({ path: pathOf(jobs, index, place), message: found })
      return []
    })
  })
  const count = edges.reduce((sum, { length }) => sum + length, 0)
  if (count > MAX_EDGES)
    throw new Refused('spec.invalid', `the batch has ${count} dependencies; allowed: up to ${MAX_EDGES} in one submit`)
  if (unmeetable.length > 0)
    throw new Refused('dependency.unmeetable', unmeetable[0]?.message ?? '', unmeetable.slice(0, 100))
  refuseCycle(edges, state.lastSeq + 1, jobs)
  return edges
}

export function pathOf(jobs: readonly unknown[], index: number, place: number): string {
  return `${jobs.length === 1 ? '' : `jobs[${index}].`}dependsOn[${place}]`
}

/** Looks up the dependencies of one job. */
class Resolver {
  readonly #state: State
  readonly #owner: string
  readonly #members: ReadonlyMap<string, number>
  readonly #facts: Facts
  readonly #seen = new Set<string>()

  constructor(state: State, owner: string, members: ReadonlyMap<string, number>, facts: Facts) {
    this.#state = state
    this.#owner = owner
    this.#members = members
    this.#facts = facts
  }

  /** The seq to wait for, null if it is met already, or the sentence that says why it never will be. A job of another owner does not exist. */
  find(id: string, kind: Edge['kind']): number | string | null {
    if (this.#seen.has(id)) return `found job ${id} twice; a job depends on another once`
    this.#seen.add(id)
    const member = this.#members.get(id)
    if (member !== undefined) return member
    const known = this.#facts.dependencies.get(id)
    if (known === undefined || known.owner !== this.#owner) return `found ${id}; no job of ${this.#owner} has this id`
    const live = presentState(this.#state, known.seq)
    if (live !== null && !isTerminal(live)) return known.seq
    const end = live ?? known.state
    if (!isTerminal(end)) throw new StaleFacts(`job ${id} has ended since it was read`)
    return isMetBy(kind, end) ? null : tooLate(kind, id, end)
  }
}
