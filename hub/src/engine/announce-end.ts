import { isTerminal, type JobState, type RowWrite } from '@stoker/protocol'
import type { State } from './state.ts'

/** What is to be told about an end is durable with the end itself; labels are compared when it is told, memory does not know them. */
export function announceEnd(state: State, job: number, end: JobState, at: number): RowWrite[] {
  if (state.webhooks.size === 0 || !isTerminal(end)) return []
  const owner = ownerOf(state, job)
  return [...state.webhooks.values()]
    .filter(webhook => webhook.owner === owner && webhook.on.includes(end))
    .map(({ id }) => ({
      op: 'put',
      table: 'delivery',
      row: {
        webhook: id,
        job,
        state: 'pending',
        tries: 0,
        dueAt: at,
        createdAt: at,
        endedAt: null,
        status: null,
        error: null,
      },
    }))
}

function ownerOf(state: State, job: number): string | undefined {
  const bucket = state.active.get(job)?.bucket ?? state.queued.get(job)?.bucket ?? state.waiting.get(job)?.bucket
  return bucket === undefined ? undefined : state.buckets.get(bucket)?.owner
}
