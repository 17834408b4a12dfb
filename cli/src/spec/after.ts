import type { Client } from '@stoker/client'
import { DependencyKind, isJobId } from '@stoker/protocol'
import { InvalidArgumentError } from 'commander'
import { resolveJob } from '../select/resolve-jobs.ts'

/** A dependency from the command line; `job` is named as everywhere on the command line. */
export interface After {
  readonly job: string
  readonly on: DependencyKind
}

export const AFTER_HELP = `start when that job has succeeded, or with :end or :failure when it has ended so (repeatable)`

export function gatherAfter(text: string, before: readonly After[] = []): After[] {
  const [job = '', on = 'success', ...more] = text.split(':')
  const kind = DependencyKind.safeParse(on)
  if (job === '' || more.length > 0 || !kind.success)
    throw new InvalidArgumentError(`It should look like JOB, JOB:${DependencyKind.options.join(', JOB:')}.`)
  return [...before, { job, on: kind.data }]
}

/** Whole ids for last digits: a spec names jobs by whole ids only. */
export async function wholeIds<Of extends { readonly after?: readonly After[] }>(client: Client, of: Of): Promise<Of> {
  if (of.after === undefined) return of
  const whole = async ({ job, on }: After) => ({
    job: isJobId(job) ? job : (await client.job(await resolveJob(client, job))).id,
    on,
  })
  return { ...of, after: await Promise.all(of.after.map(whole)) }
}
