import { type ExpandedSpec, writeSpec } from '@stoker/protocol'
import type { NewGroup, NewJob } from './commands.ts'

/** Written specs as a submit takes them: each job and each group with its id. */
export function newJobs(
  written: readonly ExpandedSpec[],
  newId: () => string,
): { readonly jobs: readonly NewJob[]; readonly groups: readonly NewGroup[] } {
  const jobs: NewJob[] = []
  const groups: NewGroup[] = []
  for (const { specs, group } of written) {
    if (group !== null) groups.push({ id: newId(), ...group, first: jobs.length, size: specs.length, retryOf: null })
    for (const spec of specs) jobs.push({ id: newId(), spec, specText: writeSpec(spec), retryOf: null })
  }
  return { jobs, groups }
}
