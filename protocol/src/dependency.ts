import { z } from 'zod'

/** How the other job must end: `failure` is failed or timed out; `end` is any end, canceled too. */
export const DependencyKind = z.enum(['success', 'end', 'failure'])
export type DependencyKind = z.infer<typeof DependencyKind>

/** Enough to gather a large sweep; more would make one job's end a walk of its own. */
const MAX_DEPENDENCIES = 1000
const JOB_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const Named = z.string().min(1, 'a dependency names a job by its whole id, or another job of its batch').max(200)

export const DependsOnInput = z
  .array(z.union([Named, z.strictObject({ job: Named, on: DependencyKind.optional() })]))
  .max(MAX_DEPENDENCIES)

/** `job` is an id; in a batch that is being read it may still be the name of another member. */
export const Dependency = z.object({ job: z.string(), on: DependencyKind })
export type Dependency = Readonly<z.infer<typeof Dependency>>

export function completeDependencies(given: z.output<typeof DependsOnInput>): Dependency[] {
  return given.map(one => {
    const { job, on = 'success' } = typeof one === 'string' ? { job: one } : one
    return { job: isJobId(job) ? job.toLowerCase() : job, on }
  })
}

export function isJobId(text: string): boolean {
  return JOB_ID.test(text)
}
