import { BorrowedFile, isTerminal, type JobRow, Refused, type SpecIssue, specIssues } from '@stoker/protocol'
import type { Caller } from './auth.ts'
import type { RouteContext } from './context.ts'
import { findJob } from './job-ref.ts'

/** True of a submit in which any file is said to be what another job left. */
export function borrows(body: unknown): boolean {
  if (hasJobs(body)) return body.jobs.some(borrowsFiles)
  return borrowsFiles(body)
}

/** A submit as it came, with what files borrow from ended jobs replaced by the content that is; everything else is left for the parser. */
export async function borrowArtifacts(
  { queries }: Pick<RouteContext, 'queries'>,
  caller: Caller,
  body: unknown,
): Promise<unknown> {
  const issues: SpecIssue[] = []
  const known = new Map<string, Promise<JobRow>>()

  function jobOf(ref: string): Promise<JobRow> {
    const job = known.get(ref) ?? findJob(queries, caller, ref)
    known.set(ref, job)
    return job
  }

  async function content({ path, job: ref, artifact, unpack, executable }: BorrowedFile): Promise<object> {
    const job = await jobOf(ref)
    if (!isTerminal(job.state))
      throw new Refused('job.not_ended', `job ${job.id} is ${job.state}; only what an ended job left can be used`)
    if (job.owner !== caller.owner)
      throw new Refused('auth.forbidden', `job ${job.id} is of "${job.owner}", the new one of "${caller.owner}"`)
    const row = await queries.artifact(job.seq, job.attempts, artifact)
    if (row === null) throw new Refused('artifact.not_found', `job ${job.id} left no file ${JSON.stringify(artifact)}`)
    const { sha256, size } = row
    const archive = unpack === undefined ? {} : { unpack }
    return { path, sha256, size, ...archive, executable: executable ?? row.executable === 1 }
  }

  async function resolved(file: unknown, at: string): Promise<unknown> {
    if (!isBorrowed(file)) return file
    const parsed = BorrowedFile.safeParse(file)
    if (!parsed.success) {
      const wrong = specIssues(parsed.error, file, () => Object.keys(BorrowedFile.shape))
      issues.push(...wrong.map(({ path, message }) => ({ path: `${at}.${path}`, message })))
      return file
    }
    return content(parsed.data).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error
      const field = error.code === 'artifact.not_found' ? 'artifact' : 'job'
      issues.push({ path: `${at}.${field}`, message: error.message })
      return file
    })
  }

  async function withContent(spec: unknown, prefix: string): Promise<unknown> {
    if (!borrowsFiles(spec)) return spec
    const files: unknown[] = []
    for (const [i, file] of spec.files.entries()) files.push(await resolved(file, `${prefix}files[${i}]`))
    return { ...spec, files }
  }

  const result = hasJobs(body) ? { ...body, jobs: await inOrder(body.jobs, withContent) } : await withContent(body, '')
  const [first] = issues
  if (first === undefined) return result
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  throw new Refused('spec.invalid', `${first.path}: ${first.message}${more}`, issues)
}

async function inOrder(
  jobs: readonly unknown[],
  each: (spec: unknown, prefix: string) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const done: unknown[] = []
  for (const [i, spec] of jobs.entries()) done.push(await each(spec, `jobs[${i}].`))
  return done
}

function isBorrowed(file: unknown): file is object {
  return typeof file === 'object' && file !== null && (Object.hasOwn(file, 'job') || Object.hasOwn(file, 'artifact'))
}

function borrowsFiles(spec: unknown): spec is { readonly files: readonly unknown[] } {
  if (typeof spec !== 'object' || spec === null) return false
  const { files } = spec as { readonly files?: unknown }
  return Array.isArray(files) && files.some(isBorrowed)
}

function hasJobs(body: unknown): body is { readonly jobs: readonly unknown[] } {
  return typeof body === 'object' && body !== null && Array.isArray((body as { readonly jobs?: unknown }).jobs)
}
