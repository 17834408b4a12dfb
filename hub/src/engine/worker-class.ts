import type { WorkerFacts } from './state.ts'

/** Everything a filter may look at that does not change with load: equal keys need one look, not one each. */
export function classKeyOf(facts: WorkerFacts): string {
  const gpus = facts.hardware.gpus.map(g => `${g.name}:${g.memoryMb}:${g.difficulty ?? ''}`).sort()
  const { note: _, environments: __, types, containers, ...abilities } = facts.abilities
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
    interpretersOf(facts),
    enginesKey(containers),
    unservedOf(types),
  ])
}

/** Down to what jobs ask for, such as 3.11. */
function interpretersOf({ hardware }: WorkerFacts) {
  return [...new Set(hardware.pythons.map(({ version }) => version.split('.', 2).join('.')))].sort()
}

/** Whether a program is ready matters to nobody who asks if it could run. */
function unservedOf(types: WorkerFacts['abilities']['types']) {
  if (types === undefined) return null
  return Object.entries(types).map(([type, { state, reason }]) => [type, state === 'impossible' ? reason : true])
}

/** Which images a worker has matters to most jobs only where it fetches none: a `pull: never` looks at each worker. */
function enginesKey(containers: WorkerFacts['abilities']['containers']) {
  if (containers === undefined) return null
  const { images, version: _, ...rest } = containers
  return containers.pulls ? rest : { ...rest, images }
}
