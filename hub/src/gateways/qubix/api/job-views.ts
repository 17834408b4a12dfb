import { type ArtifactRow, isTerminal, type JobRow, type Progress, readSpec } from '@stoker/protocol'
import type { State } from '../../../engine/state.ts'
import { mediaType } from '../../../serving/media-types.ts'
import { type JobStatus, jobStatus } from '../job-status.ts'
import type { ConsumerContext } from './context.ts'
import { noteOf } from './job-labels.ts'
import { isoTime } from './provider-views.ts'

/** A list of files longer than this is read at the hub's own API. */
const MOST_ARTIFACTS = 1000

export type ViewPorts = Pick<ConsumerContext, 'engine' | 'queries' | 'board' | 'unschedulable'>

/** A job in a list: what is stored, joined with what is only live. */
export function viewJobs(context: ViewPorts, rows: readonly JobRow[]) {
  return context.engine.read(state => rows.map(row => viewJob(context, state, row)))
}

/** One job with what it left. */
export async function viewJobDetails(context: ViewPorts, row: JobRow) {
  const artifacts = isTerminal(row.state) && row.attempts > 0 ? await artifactsOf(context, row) : []
  const [view] = await viewJobs(context, [row])
  return {
    ...view,
    result: linked(view?.result, artifacts),
    artifacts: artifacts.length === 0 ? undefined : artifacts.map(({ path: _, ...artifact }) => artifact),
  }
}

function viewJob({ board, unschedulable }: ViewPorts, state: State, row: JobRow) {
  const note = noteOf(row)
  const status = jobStatus(row)
  const isAtWork = row.state === 'active'
  const progress = isAtWork ? progressOf(board, row) : null
  const startedAt = startOf(row)
  return {
    id: row.id,
    status,
    progress: status === 'COMPLETED' ? 100 : percentOf(progress, status),
    currentOperation: progress?.operation ?? undefined,
    modelType: note.type,
    jobType: row.type,
    computeNeeded: note.computeNeeded,
    inputData: readSpec(row.spec).input,
    userId: note.user ?? row.owner,
    providerId: isAtWork || isTerminal(row.state) ? (row.worker ?? undefined) : undefined,
    maxPrice: note.maxPrice,
    budget: note.budget,
    estimatedCost: note.estimatedCost,
    escrowTxHash: note.escrow,
    attempts: row.attempts,
    cancelRequested: isAtWork && row.cancelBy !== null ? true : undefined,
    reason: row.state === 'queued' ? (unschedulable(state, row.bucket) ?? undefined) : undefined,
    error: status === 'FAILED' || status === 'CANCELLED' ? (row.reason ?? row.error ?? undefined) : undefined,
    result: row.result === null ? undefined : (JSON.parse(row.result) as unknown),
    createdAt: isoTime(row.submittedAt),
    assignedAt: isAtWork || isTerminal(row.state) ? timeOf(row.placedAt) : undefined,
    startedAt: timeOf(startedAt),
    completedAt: timeOf(row.endedAt),
    actualDuration: startedAt !== null && row.endedAt !== null ? (row.endedAt - startedAt) / 1000 : undefined,
  }
}

/** A job that was handed out runs from when its worker says so. */
export function startOf({ startedAt, runningAt, state }: Pick<JobRow, 'startedAt' | 'runningAt' | 'state'>) {
  return state === 'waiting' || state === 'queued' ? null : (startedAt ?? runningAt)
}

export function progressOf(board: ConsumerContext['board'], { seq, attempts }: JobRow): Progress | null {
  const live = board.job(seq)
  return live?.attempt === attempts ? live.progress : null
}

/** How far a job was that ended otherwise is not kept. */
function percentOf(progress: Progress | null, status: JobStatus): number | null {
  if (status === 'FAILED' || status === 'CANCELLED') return null
  return Math.min(100, Math.max(0, progress?.percent ?? 0))
}

interface LeftFile {
  readonly path: string
  readonly name: string
  readonly size: number
  readonly sha256: string
  readonly contentType: string
  readonly url: string
}

async function artifactsOf({ queries }: ViewPorts, row: JobRow): Promise<LeftFile[]> {
  const rows = await queries.artifacts(row.seq, row.attempts, '', MOST_ARTIFACTS)
  return rows.map(({ path, size, sha256 }: ArtifactRow) => {
    const url = `/api/jobs/${row.id}/artifacts/${path.split('/').map(encodeURIComponent).join('/')}`
    return { path, name: path.split('/').at(-1) ?? path, size, sha256, contentType: mediaType(path), url }
  })
}

const LINK_KEYS = ['modelUrl', 'checkpointUrl'] as const

/** Names of files the job left become addresses of them. */
function linked(result: unknown, files: readonly LeftFile[]): unknown {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return result
  const found = { ...(result as Record<string, unknown>) }
  const urlOf = (named: unknown): unknown =>
    files.find(({ path }) => path === named || path === `outputs/${String(named)}`)?.url ?? named
  for (const key of LINK_KEYS) if (typeof found[key] === 'string') found[key] = urlOf(found[key])
  if (Array.isArray(found.images)) found.images = found.images.map(urlOf)
  return found
}

function timeOf(at: number | null): string | undefined {
  return at === null ? undefined : isoTime(at)
}
