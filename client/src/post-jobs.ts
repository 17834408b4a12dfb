import type { Submitted } from '@stoker/protocol'
import type { Caller } from './caller.ts'

/** A job as the submit answers it; `unschedulable` says why no known worker can run it. */
export type SubmittedJob = Submitted['jobs'][number]

interface PostOptions {
  readonly failFast: boolean
  readonly idempotencyKey: string
  readonly signal?: AbortSignal | undefined
}

/** Sends specs that are JSON already; the answer has one job per spec, in their order. */
export type PostJobs = (specs: readonly string[], options: PostOptions) => Promise<readonly SubmittedJob[]>

/** A key goes with every submit, so sending it again after a broken connection gives the same jobs. */
export function postJobs(caller: Caller): PostJobs {
  return async (specs, { failFast, idempotencyKey, signal }) => {
    const text = await caller.text({
      method: 'POST',
      path: failFast ? '/api/v1/jobs?failFast=true' : '/api/v1/jobs',
      repeatable: true,
      body: specs.length === 1 ? specs[0] : `{"jobs":[${specs.join(',')}]}`,
      headers: { 'idempotency-key': idempotencyKey },
      signal,
    })
    const jobs = readJobs(text)
    if (jobs?.length !== specs.length)
      throw new Error(`${specs.length} jobs were submitted, the hub answered ${jobs?.length ?? text.slice(0, 100)}`)
    return jobs
  }
}

/** Checked by hand: this is the hot path, and all that matters is that the ids are there. */
function readJobs(text: string): SubmittedJob[] | null {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || !('jobs' in value) || !Array.isArray(value.jobs)) return null
  return value.jobs.every(job => typeof job?.id === 'string') ? value.jobs : null
}
