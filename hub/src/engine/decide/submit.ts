import { Refused } from '@stoker/protocol'
import type { Command, Facts, NewJob, Replies } from '../commands.ts'
import { bucketKey, shapeOf, termsOf } from '../shape-of.ts'
import type { Now, State } from '../state.ts'
import type { Emit, Rules } from './emit.ts'
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
  refuseUnknownSecrets(state, owner, jobs)
  if (command.failFast) refuseUnschedulable(state, jobs, rules)
  const firstSeq = state.lastSeq + 1
  const placed = jobs.map((job, index) => ({
    seq: firstSeq + index,
    id: job.id,
    bucket: bucketFor(state, owner, job, emit),
    name: job.spec.name,
    type: job.spec.type,
    ...(job.retryOf === null ? {} : { retryOf: job.retryOf }),
  }))
  jobs.forEach((job, index) => {
    emit.submission(firstSeq + index, job)
  })
  emit.change({ c: 'submitted', owner, at: now.wall, jobs: placed, key })
  return { firstSeq, count: jobs.length, repeated: false, unschedulable: verdicts(state, placed, rules) }
}

function refuseUnschedulable(state: State, jobs: readonly NewJob[], rules: Rules): void {
  const errors = jobs.flatMap((job, index) => {
    const reason = rules.unschedulableSpec(state, job)
    return reason === null ? [] : [{ path: jobs.length === 1 ? '(whole)' : `jobs[${index}]`, message: reason }]
  })
  if (errors.length > 0) throw new Refused('job.unschedulable', errors[0]?.message ?? '', errors)
}

function bucketFor(state: State, owner: string, job: NewJob, emit: Emit): number {
  const shape = shapeOf(job.spec)
  const terms = termsOf(job.spec)
  const key = bucketKey(owner, job.spec.priority, shape, terms)
  const known = state.bucketByKey.get(key)
  if (known !== undefined) return known
  const id = state.lastBucket + 1
  emit.change({ c: 'bucket', id, owner, priority: job.spec.priority, shape, terms })
  return id
}

function verdicts(state: State, jobs: readonly { readonly bucket: number }[], rules: Rules): (string | null)[] {
  const byBucket = new Map<number, string | null>()
  return jobs.map(({ bucket }) => {
    if (!byBucket.has(bucket)) byBucket.set(bucket, rules.unschedulable(state, bucket))
    return byBucket.get(bucket) ?? null
  })
}
