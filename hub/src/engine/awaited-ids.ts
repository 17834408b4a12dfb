import type { NewJob } from './commands.ts'

/** The jobs outside the batch that its jobs depend on: what a submit must know of them is read before it is decided. */
export function awaitedIds(jobs: readonly NewJob[]): readonly string[] {
  const asking = jobs.filter(({ spec }) => spec.dependsOn.length > 0)
  if (asking.length === 0) return []
  const members = new Set(jobs.map(({ id }) => id))
  const ids = new Set(asking.flatMap(({ spec }) => spec.dependsOn.map(({ job }) => job)))
  return [...ids].filter(id => !members.has(id))
}
