import type { WorkerFacts } from './state.ts'

/** Everything a filter may look at that does not change with load: equal keys need one look, not one each. */
export function classKeyOf(facts: WorkerFacts): string {
  const gpus = facts.hardware.gpus.map(g => `${g.name}:${g.memoryMb}:${g.difficulty ?? ''}`).sort()
  const { note: _, ...abilities } = facts.abilities
  const hasPython = facts.hardware.pythons.length > 0
  const tags = [...facts.tags].sort()
  return JSON.stringify([facts.cpusMilli, facts.memoryMb, facts.maxJobs, tags, gpus, abilities, hasPython])
}
