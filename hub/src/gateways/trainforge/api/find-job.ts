import type { JobRow } from '@stoker/protocol'
import type { DialectCaller } from '../../../serving/dialect-caller.ts'
import type { Queries } from '../../../store/port.ts'
import { maySee } from './admit.ts'
import { ConsumerError } from './consumer-error.ts'

/** Workers know an attempt as the job's id, or as that with the number of a later attempt behind it. */
const ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.\d{1,9})?$/i

/** The job a path names; one of another owner does not exist for the caller. */
export async function findJob(queries: Queries, caller: DialectCaller, ref: string): Promise<JobRow> {
  const id = ID.exec(ref)?.[1]?.toLowerCase()
  const row = id === undefined ? null : await queries.jobById(id)
  if (row !== null && maySee(caller, row.owner)) return row
  throw new ConsumerError(404, 'Job not found', `no job you may see has the id ${JSON.stringify(ref.slice(0, 100))}`)
}
