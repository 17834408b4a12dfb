import { randomUUID } from 'node:crypto'
import { GroupCanceled, GroupDetail, GroupPage, type SubmitSpec, Submitted } from '@stoker/protocol'
import type { Caller } from './caller.ts'
import { queryText } from './query.ts'

export interface SubmitAllOptions {
  readonly failFast?: boolean | undefined
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface GroupFilter {
  readonly owner?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** What can be asked about groups: jobs that were written as one. */
export function groupCalls(caller: Caller) {
  const path = (id: string) => `/api/v1/groups/${encodeURIComponent(id)}`
  return {
    /** Specs that may be arrays or sweeps; all or none. The jobs come in the order of the specs, with the groups they make. */
    submitAll: (specs: readonly SubmitSpec[], of: SubmitAllOptions = {}): Promise<Submitted> =>
      caller.json(
        {
          method: 'POST',
          path: of.failFast === true ? '/api/v1/jobs?failFast=true' : '/api/v1/jobs',
          repeatable: true,
          body: JSON.stringify(specs.length === 1 ? specs[0] : { jobs: specs }),
          headers: { 'idempotency-key': of.idempotencyKey ?? randomUUID() },
          signal: of.signal,
        },
        Submitted,
      ),
    groups: (filter: GroupFilter = {}): Promise<GroupPage> =>
      caller.json({ method: 'GET', path: `/api/v1/groups${queryText({ ...filter })}`, repeatable: true }, GroupPage),
    group: (id: string, signal?: AbortSignal): Promise<GroupDetail> =>
      caller.json({ method: 'GET', path: path(id), repeatable: true, signal }, GroupDetail),
    cancelGroup: (id: string): Promise<GroupCanceled> =>
      caller.json({ method: 'POST', path: `${path(id)}/cancel`, repeatable: false }, GroupCanceled),
    retryGroup: (id: string): Promise<Submitted> =>
      caller.json({ method: 'POST', path: `${path(id)}/retry`, repeatable: false }, Submitted),
  }
}
