import {
  type ChangeOf,
  type JobSpec,
  MAX_SPEC_BYTES,
  NewSchedule,
  Refused,
  ScheduleChanges,
  type ScheduleRow,
  type SpecIssue,
  specIssues,
} from '@stoker/protocol'
import { z } from 'zod'
import { cronIssue, nextTime } from '../schedules/cron-times.ts'
import { expandWritten, type SpecBooks } from '../schedules/expand-written.ts'

type Terms = Omit<ChangeOf<'schedule'>, 'c' | 'id' | 'owner' | 'at'>

/** The spec stays as it was written: it is expanded anew at every run. */
const written = { spec: z.record(z.string(), z.json()) }
const NewBody = NewSchedule.extend(written)
const ChangesBody = ScheduleChanges.extend({ spec: written.spec.optional() })

export function readNewSchedule(body: unknown, now: number, books: SpecBooks): Promise<Terms> {
  const { spec, ...rest } = parse(NewBody, body)
  return checked({ ...rest, spec: JSON.stringify(spec) }, now, books)
}

/** A changed schedule looks ahead from now: times that passed are not made up for. */
export function readChanges(body: unknown, row: ScheduleRow, now: number, books: SpecBooks): Promise<Terms> {
  const { spec, ...given } = parse(ChangesBody, body)
  const { name, cron, timezone, overlap, catchUp, enabled } = row
  const before = { name, cron, timezone, overlap, catchUp, enabled: enabled === 1 }
  const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return checked({ ...before, ...changes, spec: spec === undefined ? row.spec : JSON.stringify(spec) }, now, books)
}

async function checked(terms: Omit<Terms, 'nextAt'>, now: number, books: SpecBooks): Promise<Terms> {
  const { cron, timezone, spec, enabled } = terms
  const wrongTimes = cronIssue(cron, timezone, now)
  const bytes = Buffer.byteLength(spec)
  if (bytes > MAX_SPEC_BYTES)
    throw new Refused('request.too_large', `the spec has ${bytes} bytes, a spec has at most ${MAX_SPEC_BYTES}`)
  const expansion = await expandWritten(JSON.parse(spec), books, async () => {})
  const issues = expansion.ok ? fleetingIssues(expansion.expanded.specs[0]) : expansion.issues
  const wrongSpec = issues.map(issue => ({ ...issue, path: `spec.${issue.path}` }))
  refuse([...(wrongTimes === null ? [] : [wrongTimes]), ...wrongSpec])
  return { ...terms, nextAt: enabled ? nextTime(cron, timezone, now) : null }
}

/** What would be gone when it comes to later runs: jobs to wait for, and uploads, which are kept only for jobs that are there. */
function fleetingIssues(spec: JobSpec | undefined): readonly SpecIssue[] {
  if (spec === undefined) return []
  const { dependsOn, files } = spec
  return [
    ...(dependsOn.length === 0
      ? []
      : [{ path: 'dependsOn', message: `found ${dependsOn.length}; a job of a schedule depends on no other` }]),
    ...(files.length === 0
      ? []
      : [
          {
            path: 'files',
            message: `found ${files.length}; uploads are not kept from one run of a schedule to the next`,
          },
        ]),
  ]
}

function parse<T extends z.ZodObject>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const issues = specIssues(parsed.error, body, () => Object.keys(schema.shape))
  refuse(issues)
  throw new Error('a body that cannot be read has no issue')
}

function refuse(issues: readonly SpecIssue[]): void {
  const [first] = issues
  if (first !== undefined) throw new Refused('request.invalid', `${first.path}: ${first.message}`, issues)
}
