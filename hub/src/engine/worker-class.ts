import type { WorkerFacts } from './state.ts'

/** Everything a filter may look at that does not change with load: equal keys need one look, not one each. */
export function classKeyOf(facts: WorkerFacts): string {
  const gpus = facts.hardware.gpus.map(g => `${g.name}:${g.memoryMb}:${g.difficulty ?? ''}`).sort()
  const { note: _, containers, ...abilities } = facts.abilities
  const hasPython = facts.hardware.pythons.length > 0
  const tags = [...facts.tags].sort()
  return JSON.stringify([
    facts.cpusMilli,
    facts.memoryMb,
    facts.maxJobs,
    tags,
    gpus,
    abilities,
    hasPython,
    enginesKey(containers),
  ])
}

/** Which images a worker has matters to most jobs only where it fetches none: a `pull: never` looks at each worker. */
function enginesKey(containers: WorkerFacts['abilities']['containers']) {
  if (containers === undefined) return null
  const { images, version: _, ...rest } = containers
  return containers.pulls ? rest : { ...rest, images }
}
