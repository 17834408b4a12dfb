import { z } from 'zod'
import { DependencyKind } from '../dependency.ts'
import { JobSpec } from '../job-spec.ts'
import { AttemptState, JobState, Outcome } from '../life.ts'
import { Progress, RUN_ISOLATIONS, Usage } from '../machine.ts'
import { Priority } from '../spec-input.ts'

const time = z.iso.datetime()

/** One try of a job on one worker, as people see it. */
export const Attempt = z.object({
  number: z.int(),
  epoch: z.int(),
  worker: z.object({ id: z.string(), name: z.string() }),
  state: AttemptState,
  outcome: Outcome.nullable(),
  isolation: z.enum(RUN_ISOLATIONS).nullable(),
  /** As the engine of its worker's machine knows it; null for what runs in none. */
  containerId: z.string().nullable().default(null),
  gpus: z.array(z.string()),
  placedAt: time,
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  error: z.string().nullable(),
  note: z.string().nullable(),
  usage: Usage.nullable(),
})
export type Attempt = z.infer<typeof Attempt>

/** Why a job waits: each is a cause of its own, and all must go before it is queued. */
export const WaitingFor = z.object({
  /** The first of them; `unmet` counts all. */
  dependencies: z.array(z.object({ job: z.uuid(), on: DependencyKind, state: JobState })),
  unmet: z.int(),
  heldBy: z.string().nullable(),
  retryAt: time.nullable(),
})
export type WaitingFor = z.infer<typeof WaitingFor>

export const Job = z.object({
  id: z.uuid(),
  name: z.string(),
  type: z.string(),
  state: JobState,
  owner: z.string(),
  priority: z.int(),
  labels: z.record(z.string(), z.string()),
  submittedAt: time,
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  reason: z.string().nullable(),
  unschedulable: z.string().nullable(),
  waitingFor: WaitingFor.nullable().default(null),
  cancelRequested: z.boolean(),
  attempts: z.int(),
  failures: z.int(),
  lost: z.int(),
  worker: z.object({ id: z.string(), name: z.string() }).nullable(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  progress: Progress.nullable(),
  retryOf: z.uuid().nullable(),
  group: z.uuid().nullable().default(null),
})
export type Job = z.infer<typeof Job>

/** What its program uses now; `pids` are its processes, null from a worker that does not count them. */
export const LiveUse = z.object({ cpus: z.number(), memoryBytes: z.number(), pids: z.number().nullable() })
export type LiveUse = z.infer<typeof LiveUse>

export const JobDetail = Job.extend({
  /** Of a task: the session that took it. */
  session: z.uuid().nullable().optional(),
  spec: JobSpec,
  result: z.json().nullable(),
  history: z.array(Attempt),
  using: LiveUse.nullable().optional(),
})
export type JobDetail = z.infer<typeof JobDetail>

/** What can be changed of a job that has not started. */
export const JobPatch = z.strictObject({ priority: Priority })
export type JobPatch = z.infer<typeof JobPatch>

export const JobPage = z.object({ jobs: z.array(Job), next: z.string().nullable() })
export type JobPage = z.infer<typeof JobPage>

export const JobCounts = z.record(JobState, z.int())
export type JobCounts = z.infer<typeof JobCounts>

/** What a submit answers: the ids in the order of the specs, members of a group in theirs, and the groups. */
export const Submitted = z.object({
  jobs: z.array(z.object({ id: z.uuid(), unschedulable: z.string().nullable() })),
  /** `first` is the place of the first member among the jobs; the others follow it. */
  groups: z.array(z.object({ id: z.uuid(), name: z.string(), first: z.int(), size: z.int() })).default([]),
})
export type Submitted = z.infer<typeof Submitted>
