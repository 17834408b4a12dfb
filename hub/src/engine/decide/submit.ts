import { type ChangeOf, Refused } from '@stoker/protocol'
import type { Command, Facts, NewJob, Replies } from '../commands.ts'
import type { Edge } from '../edges.ts'
import { queueRefusal } from '../owner-limits.ts'
import { shapeOf, termsOf } from '../shape-of.ts'
import type { Now, State } from '../state.ts'
import { bucketsFor } from './bucket-for.ts'
import { edgesOf } from './dependencies.ts'
import type { Emit, Rules } from './emit.ts'
import { refuseTasks } from './refuse-tasks.ts'
import { refuseUnknownSecrets } from './secrets.ts'

type Submit = Extract<Command, { kind: 'submit' }>

/** All jobs of a submit are accepted together or not at all; the same key with the same body answers as the first time. */
export function decideSubmit(
  state: State,
  command: Submit,
  facts: Facts,
  now: Now,
  emit: Emit,
  rules: Rules,
): Replies['submit'] {
  const { owner, jobs, key } = command
  const earlier = facts.idempotency
  if (key !== null && earlier !== null) {
    if (earlier.hash !== key.hash)
      throw new Refused(
        'idempotency.conflict',
        `key "${key.key}" came with another body before; use a new key for new work`,
      )
    return { firstSeq: earlier.firstSeq, count: earlier.count, repeated: true, unschedulable: jobs.map(() => null) }
  }
  refuseSubmit(state, command)
  if (command.failFast) refuseUnschedulable(state, jobs, rules)
  const edges = edgesOf(state, command, facts)
  const firstSeq = state.lastSeq + 1
  const groupOf = startGroups(command, firstSeq, now, emit)
  const bucketOf = bucketsFor(state, emit)
  const placed = jobs.map((job, index) => {
    const bucket = bucketOf(asksOf(owner, job, groupOf(index)))
    return submittedJob(job, firstSeq + index, bucket, owner, edges[index] ?? NO_EDGES)
  })
  jobs.forEach((job, index) => {
    emit.submission(firstSeq + index, job)
  })
  emit.change({ c: 'submitted', owner, at: now.wall, jobs: placed, key })
  return { firstSeq, count: jobs.length, repeated: false, unschedulable: verdicts(state, placed, rules) }
}

/** Throws what stands against the jobs as the hub is now. */
export function refuseSubmit(state: State, { owner, jobs, isAdmin }: Pick<Submit, 'owner' | 'jobs' | 'isAdmin'>): void {
  const refusal = queueRefusal(state, owner, jobs.length)
  if (refusal !== null) throw new Refused('owner.limit', refusal)
  refuseUnknownSecrets(state, owner, jobs)
  refuseTasks(state, owner, jobs, isAdmin === true)
}

/** Says which group the job at an index belongs to. */
function startGroups(
  { owner, groups = [] }: Submit,
  firstSeq: number,
  now: Now,
  emit: Emit,
): (index: number) => string | null {
  if (groups.length === 0) return () => null
  const ids: string[] = []
  for (const { id, name, first, size, maxParallel, retryOf } of groups) {
    emit.change({ c: 'group', id, owner, name, firstSeq: firstSeq + first, size, maxParallel, retryOf, at: now.wall })
    for (let index = first; index < first + size; index += 1) ids[index] = id
  }
  return index => ids[index] ?? null
}

function refuseUnschedulable(state: State, jobs: readonly NewJob[], rules: Rules): void {
  const errors = jobs.flatMap((job, index) => {
    const reason = rules.unschedulableSpec(state, job)
    return reason === null ? [] : [{ path: jobs.length === 1 ? '(whole)' : `jobs[${index}]`, message: reason }]
  })
  if (errors.length > 0) throw new Refused('job.unschedulable', errors[0]?.message ?? '', errors)
}

function asksOf(owner: string, { spec }: NewJob, groupId: string | null) {
  return { owner, priority: spec.priority, shape: shapeOf(spec), terms: termsOf(spec), groupId }
}

type SubmittedJob = ChangeOf<'submitted'>['jobs'][number]
const NO_EDGES: readonly Edge[] = []

/** Few jobs have more than the first five; none gets a field it does not need, for all are journaled. */
function submittedJob(job: NewJob, seq: number, bucket: number, heldBy: string, edges: readonly Edge[]): SubmittedJob {
  const made: SubmittedJob = { seq, id: job.id, bucket, name: job.spec.name, type: job.spec.type }
  if (job.retryOf !== null) made.retryOf = job.retryOf
  if (edges.length > 0) made.dependsOn = edges.map(({ dependency, id, kind }) => ({ seq: dependency, id, on: kind }))
  if (job.spec.hold) made.heldBy = heldBy
  return made
}

function verdicts(state: State, jobs: readonly { readonly bucket: number }[], rules: Rules): (string | null)[] {
  const byBucket = new Map<number, string | null>()
  return jobs.map(({ bucket }) => {
    if (!byBucket.has(bucket)) byBucket.set(bucket, rules.unschedulable(state, bucket))
    return byBucket.get(bucket) ?? null
  })
}
