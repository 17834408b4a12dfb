import { Canceled, Health } from '@stoker/client'
import {
  Artifact,
  AuditPage,
  CreatedToken,
  CreatedWebhook,
  Device,
  Explanation,
  Findings,
  GcReport,
  Group,
  GroupCanceled,
  GroupDetail,
  GroupPage,
  Job,
  JobDetail,
  JobPage,
  KeyRotated,
  Listener,
  ListenerList,
  Owner,
  OwnerPage,
  PresetCheck,
  PresetDetail,
  PresetList,
  Schedule,
  ScheduleDetail,
  SchedulePage,
  Secret,
  SecretList,
  SessionEnded,
  SessionPage,
  SessionView,
  Submitted,
  TokenList,
  WebhookDetail,
  WebhookList,
  WebhookPing,
  Worker,
  WorkerDetail,
  WorkerList,
  WorkerStatus,
} from '@stoker/protocol'
import { z } from 'zod'

const failures = z.array(z.object({ id: z.string(), code: z.string(), message: z.string() }))
const contexts = z.object({
  current: z.string().nullable(),
  contexts: z.array(z.object({ name: z.string(), url: z.string(), hasToken: z.boolean() })),
})
const started = { url: z.string(), epoch: z.int(), dataFolder: z.string(), tokenFile: z.string(), context: z.string() }
const joined = z.object({ id: z.string(), name: z.string() })

/** A worker of this machine; one that belongs to another user, or has only just started, tells no more than its pid. */
export const LocalWorker = WorkerStatus.omit({ processStart: true, bootId: true, pid: true })
  .partial()
  .extend({
    folder: z.string(),
    state: z.enum(['connected', 'away', 'stopped', 'unreadable']),
    pid: z.int().nullable(),
  })
const programLine = z.object({
  stream: z.enum(['stdout', 'stderr']),
  line: z.int(),
  atMs: z.int(),
  event: z.string(),
  fields: z.record(z.string(), z.unknown()),
})
const programCheck = z.object({
  ok: z.boolean(),
  program: z.string(),
  run: z.object({
    kind: z.enum(['once', 'session', 'stop', 'terminal']),
    exitCode: z.int().nullable(),
    signal: z.string().nullable(),
    durationMs: z.int(),
    outcome: z.enum(['completed', 'failed', 'canceled', 'timed_out']),
    error: z.string().nullable(),
    note: z.string().nullable(),
    lines: z.array(programLine),
  }),
  mistakes: z.array(
    z.object({
      code: z.string(),
      level: z.enum(['error', 'warning', 'note']),
      run: z.enum(['once', 'session', 'stop', 'terminal']),
      stream: z.enum(['stdout', 'stderr']).nullable(),
      line: z.int().nullable(),
      text: z.string(),
      todo: z.string(),
    }),
  ),
})
const fetched = z.object({
  folder: z.string(),
  files: z.array(
    z.object({ path: z.string(), file: z.string(), size: z.int(), how: z.enum(['written', 'same', 'beside']) }),
  ),
})

const ran = z.object({
  id: z.uuid(),
  exitCode: z.int().nullable(),
  job: Job.nullable(),
  group: Group.optional(),
  outputs: fetched.nullable().optional(),
})
/** A project as it was submitted. */
export const Pushed = z.object({
  id: z.uuid(),
  project: z.string(),
  /** Null where a shell line is run. */
  script: z.string().nullable(),
  image: z.string().nullable(),
  resources: z.object({ gpus: z.int(), cpus: z.number(), memoryBytes: z.number() }),
  sent: z.object({ files: z.int(), bytes: z.int() }),
  requirements: z.array(z.string()),
  warnings: z.array(z.string()),
  unschedulable: z.string().nullable(),
})

/** The published form of what each command prints with --json; keys are added, never renamed or removed. */
export const OUTPUT_SCHEMAS = {
  up: z.object({ ...started, worker: joined }),
  hub: z.object(started),
  worker: joined.extend({ hub: z.string() }),
  'worker --status': z.object({ workers: z.array(LocalWorker) }),
  'worker --scheduler --status': z.looseObject({
    worker_id: z.string(),
    running: z.boolean(),
    active_jobs: z.int(),
    max_jobs: z.int(),
    scheduler_reachable: z.boolean(),
  }),
  'worker install': z.object({ unit: z.string(), file: z.string(), text: z.string(), started: z.boolean() }),
  'worker uninstall': z.object({ removed: z.string() }),
  run: ran,
  submit: Submitted,
  init: z.object({ name: z.string(), folder: z.string(), files: z.array(z.string()) }),
  /** With --follow as `run`. */
  push: z.union([Pushed, ran]),
  status: z.union([JobPage, JobDetail.extend({ log: z.array(z.string()) })]),
  results: fetched,
  list: JobPage,
  show: JobDetail,
  explain: Explanation,
  logs: z.object({ id: z.uuid(), text: z.string() }),
  'artifacts list': z.object({ artifacts: z.array(Artifact), bytes: z.int() }),
  'artifacts get': fetched,
  wait: z.object({ jobs: z.array(Job) }),
  cancel: z.object({ canceled: z.array(Canceled), failures }),
  hold: z.object({ jobs: z.array(Job), failures }),
  release: z.object({ jobs: z.array(Job), failures }),
  priority: z.object({ job: Job }),
  retry: z.object({
    jobs: z.array(z.object({ id: z.uuid(), unschedulable: z.string().nullable(), retryOf: z.string() })),
    failures,
  }),
  groups: GroupPage,
  'group show': GroupDetail,
  'group cancel': GroupCanceled,
  'group retry': Submitted,
  'group wait': GroupDetail,
  'session start': SessionView,
  'session list': SessionPage,
  'session show': SessionView,
  'session keepalive': SessionView,
  'session end': SessionEnded,
  'session send': z.object({
    id: z.uuid(),
    exitCode: z.int().nullable(),
    job: Job.nullable(),
    result: z.json().nullable(),
  }),
  'schedule add': ScheduleDetail,
  'schedule list': SchedulePage,
  'schedule show': ScheduleDetail,
  'schedule pause': ScheduleDetail,
  'schedule resume': ScheduleDetail,
  'schedule run': Schedule,
  'schedule remove': z.object({ removed: z.string() }),
  'presets list': PresetList,
  'presets show': PresetDetail,
  'presets check': PresetCheck,
  'owner list': OwnerPage,
  'owner show': Owner,
  'owner limit': Owner,
  workers: z.union([WorkerList, WorkerDetail]),
  drain: Worker,
  resume: Worker,
  join: z.object({
    line: z.string(),
    url: z.string(),
    hub: z.string(),
    pin: z.string().nullable(),
    tokenId: z.string(),
    expiresAt: z.iso.datetime().nullable(),
  }),
  'listener list': ListenerList,
  'listener open': Listener,
  'listener close': z.object({ closed: z.string() }),
  'device quarantine': Device,
  'device release': z.object({ released: z.string() }),
  gc: GcReport,
  'token create': CreatedToken,
  'token list': TokenList,
  'token revoke': z.object({ revoked: z.string() }),
  'webhook add': CreatedWebhook,
  'webhook list': WebhookList,
  'webhook show': WebhookDetail,
  'webhook ping': WebhookPing,
  'webhook remove': z.object({ removed: z.string() }),
  'secret set': Secret,
  'secret list': SecretList,
  'secret remove': z.object({ removed: z.string() }),
  'secret rotate-key': KeyRotated,
  audit: AuditPage,
  'context list': contexts,
  'context use': contexts,
  'context add': contexts,
  'context remove': contexts,
  'program new': z.object({ name: z.string(), folder: z.string(), files: z.array(z.string()) }),
  'program check': programCheck,
  doctor: Findings.extend({ ok: z.boolean() }),
  version: z.object({ version: z.string(), node: z.string(), hub: Health.nullable() }),
  error: z.object({
    error: z.object({ code: z.string(), message: z.string(), exitCode: z.int(), details: z.array(z.string()) }),
  }),
} as const satisfies Readonly<Record<string, z.ZodType>>

export type OutputName = keyof typeof OUTPUT_SCHEMAS
export type OutputOf<Name extends OutputName> = z.input<(typeof OUTPUT_SCHEMAS)[Name]>
