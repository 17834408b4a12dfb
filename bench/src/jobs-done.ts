import type { Client } from '@stoker/client'
import type { JobSpecInput } from '@stoker/protocol'
import { submitInBatches } from './submit-in-batches.ts'
import { untilDone } from './until-done.ts'

/** Jobs per second from the first submit until the hub counts the last as succeeded, durably; one that ends otherwise is an error. */
export async function rateOfJobs(client: Client, spec: JobSpecInput, jobs: number): Promise<number> {
  const before = await client.counts()
  const startedAt = performance.now()
  await submitInBatches(jobs, count => client.submitMany(Array.from({ length: count }, () => spec)))
  await untilDone('jobs of Stoker', jobs, async () => {
    const { succeeded, failed, canceled, timed_out } = await client.counts()
    const bad = failed + canceled + timed_out - before.failed - before.canceled - before.timed_out
    if (bad > 0) throw new Error(`${jobs} jobs should succeed, ${bad} ended otherwise`)
    return succeeded - before.succeeded
  })
  return (jobs * 1000) / (performance.now() - startedAt)
}
