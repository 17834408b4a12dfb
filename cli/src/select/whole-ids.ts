import type { Client } from '@stoker/client'
import { isJobId } from '@stoker/protocol'
import type { After } from '../spec/after.ts'
import { resolveJob } from './resolve-jobs.ts'

/** Whole ids for last digits: a spec names jobs by whole ids only. */
export async function wholeIds<Of extends { readonly after?: readonly After[] }>(client: Client, of: Of): Promise<Of> {
  if (of.after === undefined) return of
  const whole = async ({ job, on }: After) => ({
    job: isJobId(job) ? job : (await client.job(await resolveJob(client, job))).id,
    on,
  })
  return { ...of, after: await Promise.all(of.after.map(whole)) }
}
