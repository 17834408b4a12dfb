import { z } from 'zod'
import { Job, JobCounts } from './jobs.ts'

const time = z.iso.datetime()

/** Jobs that were written as one: an array, a sweep, or the retry of one. */
export const Group = z.object({
  id: z.uuid(),
  name: z.string(),
  owner: z.string(),
  size: z.int(),
  maxParallel: z.int().nullable(),
  retryOf: z.uuid().nullable(),
  submittedAt: time,
  /** When the last member ended. */
  endedAt: time.nullable(),
  counts: JobCounts,
})
export type Group = z.infer<typeof Group>

/** The first members that failed or timed out, oldest first. */
export const GroupDetail = Group.extend({ failures: z.array(Job) })
export type GroupDetail = z.infer<typeof GroupDetail>

export const GroupPage = z.object({ groups: z.array(Group), next: z.string().nullable() })
export type GroupPage = z.infer<typeof GroupPage>

/** How many members ended at once, and how many are being stopped. */
export const GroupCanceled = z.object({ canceled: z.int(), stopping: z.int(), group: Group })
export type GroupCanceled = z.infer<typeof GroupCanceled>
