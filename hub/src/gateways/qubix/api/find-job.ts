import { type JobRow, Refused } from '@stoker/protocol'
import type { DialectCaller } from '../../../serving/dialect-caller.ts'
import type { ConsumerContext } from './context.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A job of another owner does not exist for the caller. */
export async function findJob(
  { queries }: Pick<ConsumerContext, 'queries'>,
  caller: DialectCaller,
  id: string,
): Promise<JobRow> {
  const row = UUID.test(id) ? await queries.jobById(id.toLowerCase()) : null
  if (row !== null && (caller.role === 'admin' || row.owner === caller.owner)) return row
  throw new Refused('job.not_found', `Job ${JSON.stringify(id.slice(0, 80))} not found`)
}
