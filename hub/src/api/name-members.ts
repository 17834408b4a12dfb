import { type Dependency, isJobId, type JobSpec, Refused, type SpecIssue, writeSpec } from '@stoker/protocol'
import type { NewJob } from '../engine/commands.ts'

/** The jobs of a batch with every dependency named by id: a name is that of exactly one other member. */
export function linkMembers(jobs: readonly NewJob[]): readonly NewJob[] {
  if (jobs.every(({ spec }) => spec.dependsOn.every(({ job }) => isJobId(job)))) return jobs
  const named = nameMembers(
    jobs.map(({ spec }) => spec),
    jobs.map(({ id }) => id),
  )
  return jobs.map((job, index) => {
    const spec = named[index] ?? job.spec
    return spec.dependsOn.length === 0 ? job : { ...job, spec, specText: writeSpec(spec) }
  })
}

function nameMembers(specs: readonly JobSpec[], ids: readonly string[]): readonly JobSpec[] {
  const byName = indexesByName(specs)
  const issues: SpecIssue[] = []
  const named = specs.map((spec, index) => ({
    ...spec,
    dependsOn: spec.dependsOn.map((dependency, place): Dependency => {
      if (isJobId(dependency.job)) return dependency
      const found = memberNamed(dependency.job, index, byName)
      if (typeof found === 'number') return { ...dependency, job: ids[found] ?? '' }
      const prefix = specs.length === 1 ? '' : `jobs[${index}].`
      issues.push({ path: `${prefix}dependsOn[${place}]`, message: found })
      return dependency
    }),
  }))
  const [first] = issues
  if (first !== undefined)
    throw new Refused('spec.invalid', `${first.path}: ${first.message}`, issues.slice(0, MOST_ISSUES))
  return named
}

const MOST_ISSUES = 100

function indexesByName(specs: readonly JobSpec[]): ReadonlyMap<string, readonly number[]> {
  const byName = new Map<string, number[]>()
  specs.forEach(({ name }, index) => {
    const known = byName.get(name)
    if (known === undefined) byName.set(name, [index])
    else known.push(index)
  })
  return byName
}

/** The member's index, or why there is none. */
function memberNamed(name: string, asking: number, byName: ReadonlyMap<string, readonly number[]>): number | string {
  const found = byName.get(name) ?? []
  const shown = JSON.stringify(name)
  if (found.length > 1)
    return `found ${shown}, the name of ${found.length} jobs of this batch; a dependency is named by one`
  const [index] = found
  if (index === undefined)
    return `found ${shown}, the name of no job of this batch; a job outside it is named by its whole id`
  return index === asking ? `found ${shown}, the name of this job itself; a job depends on others` : index
}
