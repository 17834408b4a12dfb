import type { Dependency, DependencyKind, JobSpec } from '@stoker/protocol'
import type { Random } from './world/random.ts'

/** How a made-up batch names another of its jobs, and a job that was accepted before; the client puts ids for both. */
const MEMBER = 'member '
const EARLIER = 'earlier'
const KINDS: readonly DependencyKind[] = ['success', 'success', 'end', 'failure']

/** Lets some jobs of a batch wait for others, and holds a few. */
export function linkBatch(random: Random, specs: readonly JobSpec[]): JobSpec[] {
  return specs.map((spec, index) => {
    const members = Array.from({ length: index }, (_, n) => n).filter(() => random.chance(0.25))
    const dependsOn = members.map(n => ({ job: `${MEMBER}${n}`, on: random.pick(KINDS) }))
    if (random.chance(0.15)) dependsOn.push({ job: EARLIER, on: random.pick(KINDS) })
    return { ...spec, dependsOn, hold: random.chance(0.08) }
  })
}

/** The batch with ids for names; without an earlier job to name, that dependency is left out. */
export function resolveLinks(
  specs: readonly JobSpec[],
  ids: readonly string[],
  earlier: () => string | null,
): readonly JobSpec[] {
  const resolve = ({ job, on }: Dependency): Dependency[] => {
    const id = job === EARLIER ? earlier() : (ids[Number(job.slice(MEMBER.length))] ?? null)
    return id === null ? [] : [{ job: id, on }]
  }
  return specs.map(spec =>
    spec.dependsOn.length === 0 ? spec : { ...spec, dependsOn: spec.dependsOn.flatMap(resolve) },
  )
}
