import type { Attempt, Job, JobDetail, JobPage } from '@stoker/protocol'
import { formatDuration, formatSize, newsIn } from '@stoker/protocol'
import { ago, lasted, shortId, stateText } from './job-words.ts'
import type { Paper } from './paper.ts'
import { plainText } from './plain-text.ts'
import type { View } from './printer.ts'
import { type Column, table } from './table.ts'

/** The list: short ids for people, whole ones for scripts. */
export const jobPageView: View<JobPage> = {
  ids: page => page.jobs.map(job => job.id),
  human(page, paper) {
    const more = page.next === null ? '' : `\n${paper.color.dim(`more: --cursor ${page.next}`)}`
    return (page.jobs.length === 0 ? 'no jobs' : table(jobColumns(paper), page.jobs, paper)) + more
  },
}

export const jobsView: View<{ readonly jobs: readonly Job[] }> = {
  ids: ({ jobs }) => jobs.map(job => job.id),
  human: ({ jobs }, paper) => table(jobColumns(paper), jobs, paper),
}

/** One job: what it is, how it stands, where it ran. */
export const jobDetailView: View<JobDetail> = {
  ids: job => [job.id],
  human(job, paper) {
    const rows = [...facts(job, paper)].filter(([, text]) => text !== '')
    const wide = Math.max(...rows.map(([name]) => name.length))
    const lines = rows.map(([name, text]) => `${paper.color.dim(name.padEnd(wide))}  ${text}`)
    const attempts = job.history.length === 0 ? [] : ['', table(attemptColumns(paper), job.history, paper)]
    return [...lines, ...attempts].join('\n')
  },
}

function jobColumns(paper: Paper): Column<Job>[] {
  return [
    { title: 'ID', cell: job => shortId(job.id) },
    { title: 'STATE', cell: stateWithProgress, paint: (text, job) => stateText(job.state, text, paper) },
    { title: 'NAME', cell: job => job.name, shrinkTo: 8 },
    { title: 'TYPE', cell: job => job.type, shrinkTo: 7, importance: 1 },
    { title: 'WORKER', cell: job => job.worker?.name ?? '-', shrinkTo: 6, importance: 4 },
    { title: 'SUBMITTED', cell: job => ago(job.submittedAt, paper.now), importance: 3 },
    { title: 'RAN', cell: job => lasted(job, paper.now), importance: 2 },
    { title: 'NOTE', cell: noteOf, shrinkTo: 8, importance: 5, paint: text => paper.color.dim(text) },
  ]
}

function attemptColumns(paper: Paper): Column<Attempt>[] {
  return [
    { title: 'ATTEMPT', cell: one => String(one.number) },
    { title: 'STATE', cell: one => one.outcome ?? one.state },
    { title: 'WORKER', cell: one => one.worker.name, shrinkTo: 6 },
    { title: 'ISOLATION', cell: one => one.isolation ?? '-', importance: 1 },
    { title: 'STARTED', cell: one => (one.startedAt === null ? '-' : ago(one.startedAt, paper.now)), importance: 2 },
    { title: 'RAN', cell: one => lasted(one, paper.now), importance: 3 },
    { title: 'EXIT', cell: one => one.signal ?? String(one.exitCode ?? '-') },
    { title: 'ERROR', cell: one => (one.error ?? '').split('\n', 1).join(''), shrinkTo: 5 },
  ]
}

function* facts(job: JobDetail, paper: Paper): Generator<[string, string]> {
  const { spec } = job
  yield ['id', job.id]
  yield ['name', plainText(job.name)]
  yield ['state', stateText(job.state, stateWithProgress(job), paper) + (job.cancelRequested ? ' (canceling)' : '')]
  yield* linesOf('why', job.reason ?? job.unschedulable ?? '')
  yield* waitingFacts(job)
  yield* linesOf('command', typeof spec.command === 'string' ? spec.command : (spec.command?.join(' ') ?? ''))
  yield ['image', plainText(spec.container?.image ?? '')]
  yield ['relaxed', plainText(relaxedOf(job))]
  yield ['type', job.type]
  yield ['owner', job.owner]
  yield ['asks for', asks(job)]
  yield [
    'labels',
    plainText(
      Object.entries(job.labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(' '),
    ),
  ]
  yield ['session', taskOf(job)]
  yield ['worker', plainText(job.worker?.name ?? '')]
  yield ['submitted', `${job.submittedAt} (${ago(job.submittedAt, paper.now)})`]
  yield ['ran', lasted(job, paper.now)]
  yield ['uses', usesOf(job)]
  yield ['exit', job.signal ?? String(job.exitCode ?? '')]
  yield ['note', plainText(newsIn(job.history.at(-1)?.note ?? null) ?? '')]
  yield ['retry of', job.retryOf ?? '']
  yield ['result', job.result === null ? '' : plainText(JSON.stringify(job.result))]
}

/** Each line below the one before. */
function* linesOf(title: string, text: string): Generator<[string, string]> {
  for (const [index, line] of text.trimEnd().split('\n').entries()) yield [index === 0 ? title : '', plainText(line)]
}

function usesOf({ using }: JobDetail): string {
  if (using === null || using === undefined) return ''
  const pids = using.pids === null ? '' : `, ${using.pids} process${using.pids === 1 ? '' : 'es'}`
  return `${using.cpus.toFixed(1)} CPUs, ${formatSize(using.memoryBytes)}${pids}`
}

/** What its container may do beyond the strictest. */
function relaxedOf({ spec: { container, network } }: JobDetail): string {
  if (container === null) return ''
  const { user, workdir, writableRoot, shmBytes, mounts } = container
  const parts = [
    user === null ? '' : `user ${user}`,
    workdir === null ? '' : `starts in ${workdir === 'image' ? "the image's folder" : workdir}`,
    writableRoot ? 'writable root' : '',
    shmBytes === null ? '' : `${formatSize(shmBytes)} of shared memory`,
    network === null || network === 'none' ? '' : `network ${network}`,
    ...mounts.map(({ source, target, readOnly }) => `${source} at ${target}${readOnly ? '' : ', writable'}`),
  ]
  return parts.filter(part => part !== '').join(', ')
}

/** Of a session what it offers, of a task what takes it. */
function taskOf({ spec, session }: JobDetail): string {
  if (spec.session !== null)
    return `takes ${spec.session.concurrency} tasks at once, ${spec.session.queue} may wait (see: stoker session show)`
  if (spec.task === null) return ''
  return plainText(session ?? spec.task.session ?? `any of preset ${spec.task.preset}`)
}

function* waitingFacts({ waitingFor }: JobDetail): Generator<[string, string]> {
  if (waitingFor === null || waitingFor === undefined) return
  const { dependencies, unmet } = waitingFor
  if (unmet < 2) return
  for (const [index, { job, on, state }] of dependencies.entries())
    yield [index === 0 ? 'waits for' : '', `${on} of ${job} (${state})`]
  if (unmet > dependencies.length) yield ['', `${unmet - dependencies.length} more`]
}

function asks({ spec, priority }: JobDetail): string {
  const { resources, placement, timeoutMs } = spec
  const parts = [
    resources.gpus > 0 ? `${resources.gpus} GPU${resources.gpus === 1 ? '' : 's'}` : '',
    resources.gpuMemoryBytes === null ? '' : `${formatSize(resources.gpuMemoryBytes)} each`,
    resources.gpuModel ?? '',
    `${resources.cpus} CPU${resources.cpus === 1 ? '' : 's'}`,
    resources.memoryBytes === null ? '' : formatSize(resources.memoryBytes),
    timeoutMs === null ? '' : `at most ${formatDuration(timeoutMs)}`,
    priority === 0 ? '' : `priority ${priority}`,
    placement.worker === null ? '' : `worker ${placement.worker}`,
    ...placement.tags.map(tag => `tag ${tag}`),
  ]
  return plainText(parts.filter(part => part !== '').join(', '))
}

function stateWithProgress(job: Job): string {
  const percent = job.state === 'active' ? job.progress?.percent : null
  return percent === null || percent === undefined ? job.state : `${job.state} ${Math.round(percent)}%`
}

function noteOf(job: Job): string {
  if (job.state === 'queued' || job.state === 'waiting') return job.unschedulable ?? job.reason ?? ''
  if (job.state === 'active') return job.progress?.operation ?? ''
  return job.state === 'succeeded' ? '' : (job.reason ?? '').split('\n', 1).join('')
}
