import { z } from 'zod'
import { JobSpecInput } from '../spec-input.ts'
import { SweepInput } from '../sweep.ts'

const time = z.iso.datetime()

/** A job as people submit it: with what makes it a group. */
export const SubmitSpec = JobSpecInput.extend(SweepInput.shape)
export type SubmitSpec = z.input<typeof SubmitSpec>

const Name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'a name has letters, digits, ".", "_" and "-", at most 100')
/** What happens when a run is due and the one before has not ended. */
export const Overlap = z.enum(['allow', 'skip', 'replace'])
/** What happens with runs that fell into a time when the hub was away. */
export const CatchUp = z.enum(['none', 'one'])

const body = {
  cron: z.string().min(1).max(200),
  timezone: z.string().min(1).max(100),
  spec: SubmitSpec,
  overlap: Overlap,
  catchUp: CatchUp,
  enabled: z.boolean(),
}

export const NewSchedule = z.strictObject({
  ...body,
  name: Name,
  timezone: body.timezone.default('UTC'),
  overlap: body.overlap.default('skip'),
  catchUp: body.catchUp.default('none'),
  enabled: body.enabled.default(true),
})
export type NewSchedule = z.input<typeof NewSchedule>

export const ScheduleChanges = z.strictObject(body).partial()
export type ScheduleChanges = z.input<typeof ScheduleChanges>

/** How a due time was met. */
export const FireOutcome = z.enum(['submitted', 'skipped', 'missed', 'refused'])
export type FireOutcome = z.infer<typeof FireOutcome>

export const Schedule = z.object({
  id: z.uuid(),
  name: z.string(),
  owner: z.string(),
  cron: z.string(),
  timezone: z.string(),
  overlap: Overlap,
  catchUp: CatchUp,
  enabled: z.boolean(),
  createdAt: time,
  /** Null while it is paused, or when the pattern has no further time. */
  nextAt: time.nullable(),
  /** How often it submitted. */
  runs: z.int(),
  last: z
    .object({
      at: time,
      outcome: FireOutcome,
      reason: z.string().nullable(),
    })
    .nullable(),
  /** The first job of the last run that was submitted, and its group if it has one. */
  lastJob: z.uuid().nullable(),
  lastGroup: z.uuid().nullable(),
})
export type Schedule = z.infer<typeof Schedule>

export const ScheduleDetail = Schedule.extend({ spec: z.record(z.string(), z.json()) })
export type ScheduleDetail = z.infer<typeof ScheduleDetail>

export const SchedulePage = z.object({ schedules: z.array(Schedule), next: z.string().nullable() })
export type SchedulePage = z.infer<typeof SchedulePage>
