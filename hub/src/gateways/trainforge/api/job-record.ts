import { isTerminal, type JobRow, type JobSpec, type JobState, readSpec } from '@stoker/protocol'
import type { State } from '../../../engine/state.ts'
import type { ConsumerContext } from './context.ts'
import { isoTime } from './iso-time.ts'
import { wireId } from './worker-record.ts'

export const JOB_STATES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const
export type WireState = (typeof JOB_STATES)[number]

const STATES: Readonly<Record<JobState, WireState>> = {
  waiting: 'pending',
  queued: 'pending',
  active: 'running',
  succeeded: 'completed',
  failed: 'failed',
  timed_out: 'failed',
  canceled: 'cancelled',
}

/** A job that is being stopped counts as cancelled; one that is only given out counts as running, so that no poller takes it. */
export function wireState({ state, cancelBy }: Pick<JobRow, 'state' | 'cancelBy'>): WireState {
  return state === 'active' && cancelBy !== null ? 'cancelled' : STATES[state]
}

/** A job as the dialect shows it, but for its log. */
export function jobRecord(context: Pick<ConsumerContext, 'board' | 'now'>, row: JobRow, state: State) {
  const spec = readSpec(row.spec)
  const startedAt = row.startedAt ?? row.runningAt
  const status = wireState(row)
  const end = row.endedAt ?? (row.state === 'active' ? context.now() : null)
  return {
    job_id: row.id,
    project_name: row.name,
    training_script: scriptOf(spec),
    status,
    progress: progressOf(context, row),
    resources: resourcesOf(spec),
    config: configOf(spec),
    logs: [] as LogLine[],
    error_message: status === 'failed' || status === 'cancelled' ? (row.reason ?? row.error ?? row.cancelBy) : null,
    gpu_id: gpuOf(row, state),
    worker_node: row.worker === null ? null : workerName(row.worker, state),
    duration: startedAt === null || end === null ? null : Math.max(0, end - startedAt) / 1000,
    created_at: isoTime(row.submittedAt),
    updated_at: isoTime(row.endedAt ?? row.runningAt ?? row.placedAt ?? row.submittedAt),
    started_at: startedAt === null ? null : isoTime(startedAt),
    completed_at: row.endedAt === null ? null : isoTime(row.endedAt),
    ...distributedOf(spec, row, state),
  }
}

export interface LogLine {
  readonly timestamp: string
  readonly message: string
}

/** What a job asks for, as a configuration would say it. */
export function resourcesOf({ resources: { gpus, cpus, memoryBytes } }: Pick<JobSpec, 'resources'>) {
  return { gpu: gpus, cpu: cpus, memory: memoryBytes === null ? null : memoryText(memoryBytes) }
}

/** A worker that was forgotten is known by its id only. */
function workerName(id: string, { workers }: Pick<State, 'workers'>): string {
  const worker = workers.get(id)
  return worker === undefined ? id : wireId(worker)
}

function memoryText(bytes: number): string {
  for (const [unit, size] of [
    ['Gi', 2 ** 30],
    ['Mi', 2 ** 20],
  ] as const)
    if (bytes % size === 0) return `${bytes / size}${unit}`
  return String(bytes)
}

function scriptOf({ command, type }: JobSpec): string | null {
  if (!Array.isArray(command)) return type === 'custom_script' ? 'script' : null
  return command.find(word => word.endsWith('.py')) ?? null
}

/** The input of a project is its configuration. */
function configOf({ labels, input }: JobSpec) {
  return labels.project === undefined ? {} : input
}

function progressOf({ board }: Pick<ConsumerContext, 'board'>, row: JobRow): number {
  if (row.state === 'succeeded') return 100
  const live = row.state === 'active' ? board.job(row.seq) : null
  const percent = live?.attempt === row.attempts ? (live.progress?.percent ?? 0) : 0
  return Math.min(100, Math.max(0, percent))
}

function gpuOf({ worker, gpus }: JobRow, { workers }: State): number | null {
  const [uuid]: string[] = gpus === null ? [] : JSON.parse(gpus)
  return workers.get(worker ?? '')?.facts.hardware.gpus.find(gpu => gpu.uuid === uuid)?.index ?? null
}

/** All its processes are on one machine, where the first of them is reached. */
function distributedOf({ ranks, resources }: JobSpec, row: JobRow, state: State) {
  if (ranks === null) return {}
  const isPlaced = row.worker !== null && (row.state === 'active' || isTerminal(row.state))
  return {
    is_distributed: true,
    num_workers: ranks === 'gpus' ? resources.gpus : ranks,
    allocated_workers: isPlaced && row.worker !== null ? [workerName(row.worker, state)] : [],
    master_ip: isPlaced ? '127.0.0.1' : null,
  }
}
