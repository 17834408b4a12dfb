import type { Command, Facts, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import { bucketFor } from './bucket-for.ts'
import type { Emit } from './emit.ts'

type SetPriority = Extract<Command, { kind: 'setPriority' }>

/** Only jobs that have not started stand in an order that can change. */
export function decidePriority(
  state: State,
  { job, priority }: SetPriority,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['setPriority'] {
  const bucket = state.buckets.get((state.waiting.get(job) ?? state.queued.get(job))?.bucket ?? -1)
  if (bucket === undefined) return { effect: state.active.has(job) ? 'active' : 'ended' }
  if (bucket.priority === priority) return { effect: 'done' }
  const to = bucketFor(state, { ...bucket, priority }, emit)
  emit.change({ c: 'priority', job, bucket: to, priority, at: now.wall })
  return { effect: 'done' }
}
